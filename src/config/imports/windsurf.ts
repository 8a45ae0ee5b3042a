import { join } from "node:path";
import type { Dialect } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { windsurf as placeholders } from "./placeholders.ts";

/** Windsurf: `mcp_config.json` with `mcpServers`, `serverUrl`, `disabledTools` and `${env:X}`. */
export const windsurf: Dialect = {
  files: ({ home }) => [{ path: join(home, ".codeium", "windsurf", "mcp_config.json"), level: "user", format: "json" }],
  *servers({ mcpServers }, { cwd }) {
    for (const [name, server] of serversIn(mcpServers)) {
      yield new Draft(server, placeholders)
        .copy("type", "command", "args", "env", "headers", "disabled")
        .set("url", server.serverUrl ?? server.url)
        .put("excludeTools", server.disabledTools)
        .folder(cwd)
        .as(name);
    }
  },
};
