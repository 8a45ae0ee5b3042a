import { join } from "node:path";
import { defined } from "../../defined.ts";
import { isObject } from "../../protocol/jsonrpc.ts";
import type { Json } from "../json.ts";
import type { Dialect, ImportedServer } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { verbatim } from "./placeholders.ts";

/**
 * Codex: `config.toml` with `[mcp_servers.NAME]`. It expands nothing but names variables in fields of their own, and gives a
 * server only a small part of its environment, with `env_vars` on top.
 */
export const codex: Dialect = {
  files: ({ codexHome, cwd }) => [
    { path: join(codexHome, "config.toml"), level: "user", format: "toml" },
    { path: join(cwd, ".codex", "config.toml"), level: "project", format: "toml" },
  ],
  *servers({ mcp_servers, mcp_oauth_callback_url }, { cwd }) {
    for (const [name, server] of serversIn(mcp_servers)) yield read(name, server, cwd, mcp_oauth_callback_url);
  },
};

function read(name: string, server: Json, cwd: string, callback: unknown): ImportedServer {
  const { tool_timeout_sec, bearer_token_env_var, env_http_headers, env_vars } = server;
  const draft = new Draft(server, verbatim)
    .copy("command", "args", "env", "url", "enabled")
    .folder(cwd)
    .time(tool_timeout_sec)
    .set("headers", server.http_headers)
    .put("includeTools", server.enabled_tools)
    .put("excludeTools", server.disabled_tools)
    .unsupported("bearer_token", "is not read; name a variable with bearer_token_env_var");
  if (server.command !== undefined) draft.put("inheritEnv", variableNames(env_vars));
  if (typeof bearer_token_env_var === "string")
    draft.addHeaders([["Authorization", `Bearer \${${bearer_token_env_var}}`]]);
  if (isObject(env_http_headers))
    draft.addHeaders(Object.entries(env_http_headers).map(([name, variable]) => [name, `\${${String(variable)}}`]));
  return oauth(draft, server, callback).as(name);
}

function variableNames(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.map((item) => (isObject(item) ? item.name : item)).filter((item) => typeof item === "string");
}

function oauth(draft: Draft, { oauth: settings, scopes, oauth_resource: resource }: Json, callback: unknown): Draft {
  const clientId = isObject(settings) ? settings.client_id : undefined;
  if (clientId === undefined && scopes === undefined && resource === undefined) return draft;
  return draft.set("oauth", {
    ...(clientId === undefined ? {} : { clientId, ...defined({ redirectUri: callback }) }),
    ...defined({ scopes, parameters: resource === undefined ? undefined : { resource } }),
  });
}
