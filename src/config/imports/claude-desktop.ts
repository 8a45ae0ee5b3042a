import { join } from "node:path";
import type { Dialect } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { verbatim } from "./placeholders.ts";

/** Claude Desktop: `claude_desktop_config.json` with `mcpServers`; it expands nothing. */
export const claudeDesktop: Dialect = {
  files: ({ appData }) => [
    { path: join(appData, "Claude", "claude_desktop_config.json"), level: "user", format: "json" },
  ],
  *servers({ mcpServers }) {
    for (const [name, server] of serversIn(mcpServers)) {
      yield new Draft(server, verbatim).copy("type", "command", "args", "env", "url", "headers", "disabled").as(name);
    }
  },
};
