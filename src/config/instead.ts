import { quote } from "../messages.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { holdsServers, namesEndpoint } from "./endpoint.ts";
import type { Json } from "./json.ts";

/** What VS Code, Codex, Amp and others call `mcpServers`, whose servers are written as ours. */
const LIST = /^(.*\.)?(mcp[._-]?)?servers$/i;
/** Those who may write theirs differently, with the dialect that reads them. */
const DIALECTS: readonly (readonly [key: string, program: string, dialect: string])[] = [
  ["mcp", "OpenCode", "opencode"],
  ["context_servers", "Zed", "zed"],
];

/** What to write where a file has these fields instead of `mcpServers`; empty where that is not known. */
export function adviceInstead(value: Json, fields: readonly string[]): string {
  const list = fields.find((field) => LIST.test(field) && isObject(value[field]));
  if (list !== undefined) return `write "mcpServers" in place of ${quote(list)}`;
  const { mcp } = value;
  if (isObject(mcp) && isObject(mcp.servers) && !namesEndpoint(mcp.servers))
    return 'write "mcpServers" in place of "mcp" and "servers"';
  for (const [key, program, dialect] of DIALECTS) {
    const servers = value[key];
    if (!isObject(servers)) continue;
    if (isAsOurs(servers)) return `write "mcpServers" in place of ${quote(key)}`;
    return `${program}'s are written differently: "imports": [${quote(dialect)}] reads them from its own file`;
  }
  if (isObject(value.server) && isObject(value.server.mcp_config))
    return 'write what "mcp_config" holds as {"mcpServers": {"NAME": {…}}}';
  if (namesEndpoint(value)) return 'a server has a name: write {"mcpServers": {"NAME": {…}}}';
  const [first] = fields;
  if (first === undefined || !holdsServers(Object.fromEntries(fields.map((field) => [field, value[field]])))) return "";
  return `write {"mcpServers": {${quote(first)}: {…}${fields.length > 1 ? ", …" : ""}}}`;
}

/** Crush has OpenCode's name for them, and writes them as we do; so does Zed. */
function isAsOurs(servers: Json): boolean {
  return Object.values(servers).every(
    (server) =>
      isObject(server) && typeof (server.command ?? "") === "string" && !/^(local|remote)$/.test(String(server.type)),
  );
}
