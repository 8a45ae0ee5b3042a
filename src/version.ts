/** The version of this package, as servers see it; a test keeps it equal to package.json. */
export const VERSION = "0.1.0";

/** Who servers are told that we are, unless an embedder says otherwise. */
export const CLIENT_INFO = { name: "rpi-mcp-adapter", version: VERSION } as const;
