import { quote } from "../messages.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { holdsServers, namesEndpoint } from "./endpoint.ts";
import type { Json } from "./json.ts";

/** What VS Code, Codex, Amp and others call `mcpServers`, whose servers are written as ours. */
const LIST = /^(.*\.)?(mcp[._-]?)?servers$/i;
/** Those who write theirs differently, with the dialect that reads them. */
const DIALECTS: readonly (readonly [key: string, program: string, dialect: string])[] = [
  ["context_servers", "Zed", "zed"],
  ["mcp", "OpenCode", "opencode"],
];

/** What to write where a file has these fields instead of `mcpServers`; empty where that is not known. */
export function adviceInstead(value: Json, fields: readonly string[]): string {
  const list = fields.find((field) => LIST.test(field) && isObject(value[field]));
  if (list !== undefined) return `write "mcpServers" in place of ${quote(list)}`;
  const { mcp } = value;
  if (isObject(mcp) && isObject(mcp.servers) && !namesEndpoint(mcp.servers))
    return 'write "mcpServers" in place of "mcp" and "servers"';
  for (const [key, program, dialect] of DIALECTS) {
    if (isObject(value[key]))
      return `${program}'s are written differently: "imports": [${quote(dialect)}] reads them from its own file`;
  }
  if (namesEndpoint(value)) return 'a server has a name: write {"mcpServers": {"NAME": {…}}}';
  const [first] = fields;
  if (first === undefined || !holdsServers(Object.fromEntries(fields.map((field) => [field, value[field]])))) return "";
  return `write {"mcpServers": {${quote(first)}: {…}${fields.length > 1 ? ", …" : ""}}}`;
}
