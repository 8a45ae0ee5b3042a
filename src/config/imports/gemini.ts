import { join } from "node:path";
import { defined } from "../../defined.ts";
import { isObject } from "../../protocol/jsonrpc.ts";
import type { Json } from "../json.ts";
import type { Dialect } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { gemini as placeholders } from "./placeholders.ts";

/** Gemini CLI: `mcpServers` in `settings.json`, `httpUrl` beside `url`, `$X`, milliseconds, and lists of allowed servers. */
export const gemini: Dialect = {
  files: ({ home, cwd }) => [
    { path: join(home, ".gemini", "settings.json"), level: "user", format: "json" },
    { path: join(cwd, ".gemini", "settings.json"), level: "project", format: "json" },
  ],
  *servers(document, { cwd }) {
    const allows = allowance(document);
    for (const [name, server] of serversIn(document.mcpServers)) {
      const { httpUrl, url, type, oauth, authProviderType } = server;
      const draft = new Draft(server, placeholders)
        .copy("command", "args", "env", "headers")
        .put("includeTools", server.includeTools)
        .put("excludeTools", server.excludeTools)
        .set("url", httpUrl ?? url)
        .set("type", httpUrl === undefined ? type : "http")
        .folder(cwd)
        .time(server.timeout, 1000)
        .unsupported("tcp", "names a WebSocket, which is not an MCP transport");
      if (authProviderType !== undefined && authProviderType !== "dynamic_discovery") {
        draft.refuse("authProviderType", `is ${JSON.stringify(authProviderType)}, which only Gemini can do`);
      }
      if (isObject(oauth)) draft.set("oauth", oauth.enabled === false ? undefined : settings(oauth));
      yield (allows(name) ? draft : draft.put("enabled", false)).as(name);
    }
  },
};

/** `mcp.allowed` and `mcp.excluded`, formerly at the top. */
function allowance(document: Json): (name: string) => boolean {
  const { allowed = document.allowMCPServers, excluded = document.excludeMCPServers } = isObject(document.mcp)
    ? document.mcp
    : {};
  const [listed, hidden] = [allowed, excluded].map((names) =>
    Array.isArray(names) ? new Set<unknown>(names) : undefined,
  );
  return (name) => listed?.has(name) !== false && hidden?.has(name) !== true;
}

function settings({ clientId, clientSecret, scopes, redirectUri, audiences }: Json): Json {
  const parameters = Array.isArray(audiences) ? { audience: audiences.join(" ") } : undefined;
  return defined({ clientId, clientSecret, scopes, redirectUri, parameters });
}
