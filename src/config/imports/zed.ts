import { join } from "node:path";
import { isObject } from "../../protocol/jsonrpc.ts";
import type { Dialect } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { verbatim } from "./placeholders.ts";

/** Zed: `context_servers` in its settings; the older form nests `command: { path, args, env }`. It expands nothing. */
export const zed: Dialect = {
  files: ({ platform, appData, home, configHome, cwd }) => {
    const base =
      platform === "win32"
        ? join(appData, "Zed")
        : platform === "darwin"
          ? join(home, ".config", "zed")
          : join(configHome, "zed");
    return [
      { path: join(base, "settings.json"), level: "user", format: "json" },
      { path: join(cwd, ".zed", "settings.json"), level: "project", format: "json" },
    ];
  },
  *servers({ context_servers }) {
    for (const [name, server] of serversIn(context_servers)) {
      const { command, oauth } = server;
      const nested = isObject(command) ? command : server;
      const draft = new Draft(server, verbatim)
        .copy("url", "headers", "enabled")
        .set("command", isObject(command) ? command.path : command)
        .set("args", nested.args)
        .set("env", nested.env ?? undefined)
        .time(nested.timeout ?? server.timeout);
      if (isObject(oauth)) {
        const { client_id: clientId, client_secret: clientSecret } = oauth;
        draft.set("oauth", { clientId, ...(clientSecret ? { clientSecret } : {}) });
      }
      if (command === undefined && server.url === undefined) {
        draft.refuse("", "is provided by a Zed extension, which only Zed can start");
      }
      yield draft.as(name);
    }
  },
};
