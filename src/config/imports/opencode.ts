import { join } from "node:path";
import { defined } from "../../defined.ts";
import { isObject } from "../../protocol/jsonrpc.ts";
import type { Json } from "../json.ts";
import type { Dialect, DialectFile, ImportedServer } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { opencode as placeholders } from "./placeholders.ts";

/** OpenCode: `mcp` (or, in its version 2, `mcp.servers`) with command lists, `environment` (or `env`), `{env:X}` and milliseconds. */
export const opencode: Dialect = {
  files: ({ configHome, cwd }) => [
    ...["config.json", "opencode.json", "opencode.jsonc"].map((name) =>
      file(join(configHome, "opencode", name), "user"),
    ),
    ...["opencode.json", "opencode.jsonc"].map((name) => file(join(cwd, name), "project")),
    ...["opencode.json", "opencode.jsonc"].map((name) => file(join(cwd, ".opencode", name), "project")),
  ],
  *servers({ mcp }, { cwd }) {
    for (const [name, server] of serversIn(isSecond(mcp) ? mcp.servers : mcp)) yield read(name, server, cwd);
  },
};

function file(path: string, level: DialectFile["level"]): DialectFile {
  return { path, level, format: "json" };
}

/** A server of version 1 may be named "servers"; it then has fields of a server. */
function isSecond(mcp: unknown): mcp is { readonly servers: Json } {
  if (!isObject(mcp) || !isObject(mcp.servers)) return false;
  return Object.values(mcp.servers).every(isObject);
}

function read(name: string, server: Json, cwd: string): ImportedServer {
  const { type, command, env, environment = env, timeout, oauth } = server;
  const draft = new Draft(server, placeholders)
    .copy("url", "headers", "enabled", "disabled")
    .set("env", environment)
    .folder(cwd)
    .time(isObject(timeout) ? timeout.request : timeout, 1000);
  if (Array.isArray(command))
    draft.set("command", command[0]).set("args", command.length > 1 ? command.slice(1) : undefined);
  else draft.set("command", command);
  if (type !== undefined && type !== "local" && type !== "remote") draft.set("type", type);
  if (oauth === false) return draft.put("oauth", false).as(name);
  return (isObject(oauth) ? draft.set("oauth", settings(oauth)) : draft).as(name);
}

function callback(port: unknown): string | undefined {
  return port === undefined ? undefined : `http://127.0.0.1:${String(port)}/mcp/oauth/callback`;
}

/** Version 2 writes them with underscores. */
function settings(oauth: Json): Json {
  return defined({
    clientId: oauth.clientId ?? oauth.client_id,
    clientSecret: oauth.clientSecret ?? oauth.client_secret,
    scope: oauth.scope,
    redirectUri: oauth.redirectUri ?? oauth.redirect_uri ?? callback(oauth.callbackPort ?? oauth.callback_port),
  });
}
