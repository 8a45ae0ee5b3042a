import { join } from "node:path";
import type { Dialect } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { editor } from "./placeholders.ts";

/** VS Code: `mcp.json` with `servers`, `${env:X}`, and `${input:x}`, which asks a person. */
export const vscode: Dialect = {
  files: ({ appData, cwd }) => [
    { path: join(appData, "Code", "User", "mcp.json"), level: "user", format: "json" },
    { path: join(appData, "Code - Insiders", "User", "mcp.json"), level: "user", format: "json" },
    { path: join(cwd, ".vscode", "mcp.json"), level: "project", format: "json" },
  ],
  *servers({ servers }, place) {
    for (const [name, server] of serversIn(servers)) {
      yield new Draft(server, editor(place))
        // Its "http" falls back to HTTP+SSE, as an entry of ours without a type does.
        .set("type", server.type === "http" ? undefined : server.type)
        .copy("command", "args", "env", "url", "headers", "oauth", "disabled")
        .folder(place.cwd)
        .unsupported("envFile", "is not read; put its variables into env")
        .unsupported("sandboxEnabled", "asks for a sandbox, which is not available here")
        .as(name);
    }
  },
};
