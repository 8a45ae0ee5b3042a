import { join } from "node:path";
import type { Dialect } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { verbatim } from "./placeholders.ts";

/** Claude Desktop: `claude_desktop_config.json` with `mcpServers`; it expands nothing. */
export const claudeDesktop: Dialect = {
  files: ({ platform, appData, dataHome }) => {
    const packaged = join(dataHome, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming");
    // Installed as a package, as it is on Windows by now, it sees that folder in place of the usual one.
    return [appData, ...(platform === "win32" ? [packaged] : [])].map((folder) => ({
      path: join(folder, "Claude", "claude_desktop_config.json"),
      level: "user",
      format: "json",
    }));
  },
  *servers({ mcpServers }) {
    for (const [name, server] of serversIn(mcpServers)) {
      yield new Draft(server, verbatim).copy("type", "command", "args", "env", "url", "headers", "disabled").as(name);
    }
  },
};
