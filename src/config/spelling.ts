import { isObject } from "../protocol/jsonrpc.ts";

type Fields = Readonly<Record<string, unknown>>;

const TEXTS = ["cwd", "url", "bearerToken", "env", "headers"];
const TOOL_NAMES = ["includeTools", "excludeTools"];

/** An entry without null members: some programs write null for absent fields. */
export function withoutNulls(entry: Fields): Fields {
  const fields = Object.entries(entry);
  return fields.some(([, value]) => value === null)
    ? Object.fromEntries(fields.filter(([, value]) => value !== null))
    : entry;
}

/** An entry of one of our files, which pi-mcp-adapter reads too, with what that spells in its own way spelt in ours. */
export function inOurSpelling(server: string, entry: Fields): Fields {
  const changed = Object.entries(withoutNulls(entry)).map(([field, value]) => [
    field,
    TEXTS.includes(field) ? ourVariables(value) : TOOL_NAMES.includes(field) ? ourNames(server, value) : value,
  ]);
  return Object.fromEntries(changed);
}

/** `$env:VAR`. Not in a command line, where it may be PowerShell's. */
function ourVariables(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/(?<!\$)\$env:([A-Za-z_]\w*)/g, "${$1}");
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, ourVariables(text)]));
}

/** A tool may be named with its server before it, as it stands in the model's list there: hidden, it would stay callable. */
function ourNames(server: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const names = [server, server.replaceAll("-", "_")];
  const prefixes = names.flatMap((name) => [`mcp__${name}__`, `mcp__${name}_`, `${name}_`]);
  const bare = value.flatMap((name: unknown) => {
    if (typeof name !== "string" || name.includes("*")) return [];
    const prefix = prefixes.find((each) => name.startsWith(each) && name !== each);
    return prefix === undefined ? [] : [name.slice(prefix.length)];
  });
  return [...value, ...bare];
}
