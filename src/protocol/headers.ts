import { cut } from "../cut.ts";
import { isHeaderName } from "./header-syntax.ts";
import { isObject, type JsonRpcMessage } from "./jsonrpc.ts";

const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const NAMED = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);
const PROBLEM_CHARACTERS = 300;

/** The headers that mirror a request, as 2026-07-28 wants them (Streamable HTTP, Request Metadata). */
export function mirrorHeaders(message: JsonRpcMessage, inputSchema?: unknown): Record<string, string> {
  if (!("method" in message)) return {};
  const headers: Record<string, string> = { "Mcp-Method": message.method };
  const named = NAMED.get(message.method);
  const name = named === undefined ? undefined : message.params?.[named];
  if (typeof name === "string") headers["Mcp-Name"] = encodeHeaderValue(name);
  if (message.method === "tools/call" && inputSchema !== undefined) {
    for (const { header, place } of annotations(inputSchema).found) {
      const value = headerText(valueAt(message.params?.["arguments"], place));
      if (value !== undefined) headers[`Mcp-Param-${header}`] = encodeHeaderValue(value);
    }
  }
  return headers;
}

/** Why a tool's `x-mcp-header` annotations make it unusable over HTTP; `undefined` if they are fine. */
export function headerProblem(inputSchema: unknown): string | undefined {
  return annotations(inputSchema).problem;
}

/** A header value as it stands, or its Base64 form where it is not plain ASCII or looks like that form itself. */
export function encodeHeaderValue(value: string): string {
  // Beginning and end of that form may share their question mark.
  const looksEncoded = value.startsWith("=?base64?") && value.endsWith("?=");
  if (value === "" || (PLAIN.test(value) && !looksEncoded)) return value;
  let binary = "";
  for (const byte of new TextEncoder().encode(value)) binary += String.fromCharCode(byte);
  return `=?base64?${btoa(binary)}?=`;
}

/** The path of an argument, as a linked list: paths share their prefixes, so that many deep ones do not take memory for each level. */
interface Place {
  readonly name: string;
  readonly within: Place | undefined;
}

interface Annotation {
  readonly header: string;
  readonly place: Place | undefined;
}

interface Annotations {
  readonly found: readonly Annotation[];
  readonly problem?: string;
}

const NONE: Annotations = { found: [] };
const remembered = new WeakMap<object, Annotations>();

function annotations(inputSchema: unknown): Annotations {
  if (!isObject(inputSchema)) return NONE;
  const known = remembered.get(inputSchema);
  if (known !== undefined) return known;
  const collected = collect(inputSchema);
  remembered.set(inputSchema, collected);
  return collected;
}

function collect(schema: Readonly<Record<string, unknown>>): Annotations {
  const found: Annotation[] = [];
  const seen = new Set<string>();
  let problem: string | undefined;

  const annotate = (node: Readonly<Record<string, unknown>>, place: Place | undefined, reachable: boolean): void => {
    const header = node["x-mcp-header"];
    if (typeof header !== "string" || header === "") {
      problem = `x-mcp-header of ${nameOf(place)} is not a name`;
      return;
    }
    problem = annotationProblem(header, node["type"], place, reachable);
    if (problem !== undefined) return;
    const key = header.toLowerCase();
    if (seen.has(key)) problem = `x-mcp-header ${JSON.stringify(header)} is used twice`;
    seen.add(key);
    found.push({ header, place });
  };

  // `properties` chains are followed as such; everything else is only searched for annotations that may not stand there.
  // A message has a bounded depth (`nestedLevels`), and so has this.
  const walk = (node: unknown, place: Place | undefined, reachable: boolean): void => {
    if (problem !== undefined || typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) {
      for (const item of node) walk(item, place, false);
      return;
    }
    const schemaNode = node as Readonly<Record<string, unknown>>;
    if (Object.hasOwn(schemaNode, "x-mcp-header")) annotate(schemaNode, place, reachable);
    for (const [key, child] of Object.entries(schemaNode)) {
      if (key === "properties" && isObject(child)) {
        for (const [name, property] of Object.entries(child)) walk(property, { name, within: place }, reachable);
      } else if (NAMED_SCHEMAS.has(key) && isObject(child)) {
        for (const each of Object.values(child)) walk(each, place, false);
      } else if (!DATA_KEYWORDS.has(key)) walk(child, place, false);
    }
  };

  walk(schema, undefined, true);
  return problem === undefined ? { found } : { found: [], problem: cut(problem, PROBLEM_CHARACTERS) };
}

/** Keywords whose values hold schemas under names of the server's choice. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(["$defs", "definitions", "patternProperties", "dependentSchemas"]);
/** Keywords whose values are data, where a key of that name annotates nothing. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  "x-mcp-header",
  "default",
  "enum",
  "const",
  "examples",
  "required",
  "description",
  "title",
]);

function annotationProblem(
  header: string,
  type: unknown,
  place: Place | undefined,
  reachable: boolean,
): string | undefined {
  if (!isHeaderName(header))
    return `x-mcp-header ${JSON.stringify(header)} of ${nameOf(place)} is not a valid header name`;
  if (!reachable || place === undefined)
    return `x-mcp-header ${JSON.stringify(header)} cannot mean one argument where it stands (${nameOf(place)})`;
  if (type !== "string" && type !== "integer" && type !== "boolean")
    return `x-mcp-header ${JSON.stringify(header)} of ${nameOf(place)} is on a value that is not a string, integer or boolean`;
  return undefined;
}

function nameOf(place: Place | undefined): string {
  if (place === undefined) return "the schema root";
  return place.within === undefined ? place.name : `${nameOf(place.within)}.${place.name}`;
}

function valueAt(args: unknown, place: Place | undefined): unknown {
  if (place === undefined) return args;
  const holder = valueAt(args, place.within);
  return isObject(holder) && Object.hasOwn(holder, place.name) ? holder[place.name] : undefined;
}

function headerText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value))) return String(value);
  return undefined;
}
