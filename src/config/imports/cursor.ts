import { join } from "node:path";
import { isObject } from "../../protocol/jsonrpc.ts";
import type { Dialect } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { editor } from "./placeholders.ts";

/** Cursor: `mcp.json` with `mcpServers`, `${env:X}` and `auth` with upper-case keys. */
export const cursor: Dialect = {
  files: ({ home, cwd }) => [
    { path: join(home, ".cursor", "mcp.json"), level: "user", format: "json" },
    { path: join(cwd, ".cursor", "mcp.json"), level: "project", format: "json" },
  ],
  *servers({ mcpServers }, place) {
    for (const [name, server] of serversIn(mcpServers)) {
      const { auth } = server;
      const draft = new Draft(server, editor(place))
        .copy("type", "command", "args", "env", "url", "headers", "disabled", "enabled")
        .folder(place.cwd)
        .unsupported("envFile", "is not read; put its variables into env");
      if (isObject(auth)) {
        const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, scopes } = auth;
        draft.set("oauth", { clientId, ...(clientSecret ? { clientSecret } : {}), ...(scopes ? { scopes } : {}) });
      }
      yield draft.as(name);
    }
  },
};
