import type { Trust } from "../contract.ts";
import { AdapterError } from "../errors.ts";
import { quote } from "../messages.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { PROBLEMS_TOLD } from "./candidate.ts";
import { foreignVariables } from "./foreign-variables.ts";
import { adviceInstead } from "./instead.ts";
import type { Json } from "./json.ts";
import { repeatedIn } from "./repeated.ts";
import { inOurSpelling } from "./spelling.ts";

/** One of our own files, its fields sorted out; what is wrong with it is a problem and hides nothing else. */
export interface Document {
  readonly servers: ReadonlyArray<readonly [name: string, raw: unknown]>;
  readonly trust?: Trust;
  readonly maxResultBytes?: number;
  readonly imports: readonly string[];
  readonly pluginPaths: readonly string[];
  readonly problems: readonly AdapterError[];
}

/** Each plugin is looked for at each call. */
const MAX_LISTED = 100;
/** `settings` are those of pi-mcp-adapter, which reads the same files. */
const KNOWN = ["mcpServers", "imports", "pluginPaths", "trust", "maxResultBytes", "$schema", "settings"];

/** @throws AdapterError `config.shape` where the file as a whole is unusable. */
export function readDocument(value: unknown, configPath: string): Document {
  const shape = (reason: string): AdapterError => new AdapterError("config.shape", { configPath, reason });
  if (!isObject(value)) throw shape('must be an object, such as {"mcpServers": {}}');
  const { mcpServers, trust, maxResultBytes } = value;
  if (mcpServers === undefined) assertOurs(value, shape);
  else if (!isObject(mcpServers)) throw shape("mcpServers must be an object of servers by name");

  const problems: AdapterError[] = repeatedIn(value).map(shape);
  const list = (field: "imports" | "pluginPaths"): readonly string[] => {
    const found = value[field];
    if (found === undefined) return [];
    if (!Array.isArray(found) || !found.every((item) => typeof item === "string" && item !== "")) {
      problems.push(shape(`${field} must be a list of strings; it is ignored`));
      return [];
    }
    if (found.length <= MAX_LISTED) return found;
    problems.push(shape(`${field} names ${found.length}; only the first ${MAX_LISTED} are read`));
    return found.slice(0, MAX_LISTED);
  };
  const trusts = trust === "ask" || trust === "always";
  if (trust !== undefined && !trusts) problems.push(shape('trust must be "ask" or "always"; it is ignored'));
  const bounded = typeof maxResultBytes === "number" && Number.isInteger(maxResultBytes) && maxResultBytes > 0;
  if (maxResultBytes !== undefined && !bounded) {
    problems.push(shape("maxResultBytes must be a positive whole number; it is ignored"));
  }
  const servers = Object.entries((mcpServers as Json | undefined) ?? {}).map(
    ([name, raw]) => [name, isObject(raw) ? inOurSpelling(name, raw) : raw] as const,
  );
  const foreign = servers.flatMap(([server, raw]) => foreignVariables(raw).map((found) => [server, ...found] as const));
  for (const [server, field, reason] of foreign.slice(0, PROBLEMS_TOLD))
    problems.push(new AdapterError("config.entry", { server, configPath, field, reason }));
  return {
    servers,
    ...(trusts ? { trust } : {}),
    ...(bounded ? { maxResultBytes } : {}),
    imports: list("imports"),
    pluginPaths: list("pluginPaths"),
    problems,
  };
}

/** A file without `mcpServers` is fine if it holds something else of ours, or nothing at all. */
function assertOurs(value: Json, shape: (reason: string) => AdapterError): void {
  const keys = Object.keys(value);
  const unknown = keys.filter((key) => !KNOWN.includes(key));
  if (unknown.length === 0 || unknown.length < keys.filter((key) => key !== "$schema").length) return;
  const names = unknown.slice(0, 5).map(quote).join(", ");
  const advice = adviceInstead(value, unknown);
  throw shape(
    `has no "mcpServers", only ${names}${unknown.length > 5 ? ", …" : ""}; servers are read from "mcpServers"${advice && `: ${advice}`}`,
  );
}
