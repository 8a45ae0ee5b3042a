import { isObject } from "../protocol/jsonrpc.ts";
import type { CompiledCheck, CompiledError } from "../validation/compiled.js";

/** What is wrong with an entry: the field, empty for the entry itself, and the reason as the rest of a sentence. */
export interface Flaw {
  readonly field: string;
  readonly reason: string;
}

/** Fields of any case or with bounds that are limits: check.ts looks at them, and the schema does not see them. */
export const CHECKED_ELSEWHERE: readonly string[] = [
  "type",
  "transport",
  "timeout",
  "timeout_ms",
  "timeoutMs",
  "requestTimeoutMs",
  "maxTotalSeconds",
];

/** The first field of an entry that breaks schemas/mcp-config.schema.json, or nothing. */
export type ShapeCheck = (raw: object) => Flaw | undefined;

/**
 * The check for these entries, and for what is left of them without some of their fields. The compiled schema costs a first call
 * 4 ms, and is loaded only where an entry has other fields than the usual ones, or a flaw.
 */
export async function loadShapeCheck(entries: Iterable<unknown>): Promise<ShapeCheck> {
  for (const entry of entries)
    if (isObject(entry) && !isUsual(entry)) return bySchema((await import("../validation/compiled.js")).mcpConfig);
  return () => undefined;
}

function bySchema(mcpConfig: CompiledCheck): ShapeCheck {
  return (raw) => {
    // The schema's only door is a whole file; one with a single entry keeps a bad entry from hiding the good ones.
    if (mcpConfig({ mcpServers: { entry: raw } })) return undefined;
    const [error] = mcpConfig.errors ?? [];
    return error === undefined
      ? { field: "", reason: "is malformed" }
      : { field: fieldOf(error.instancePath), reason: reasonFor(error) };
  };
}

const isText = (value: unknown): boolean => typeof value === "string";
const isFullText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isListOf = (is: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(is);
const isRecordOf = (is: (value: unknown) => boolean) => (value: unknown) =>
  isObject(value) && Object.values(value).every(is);
const isNames = isListOf(isFullText);
const isFlagOrNames = (value: unknown): boolean => isFlag(value) || isNames(value);

/** Checks of the common fields, for entries that need no compiled schema. They must accept no more than schemas/mcp-config.schema.json. */
const USUAL: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["command", isFullText],
  ["args", isListOf(isText)],
  ["env", isRecordOf(isText)],
  ["cwd", isFullText],
  ["inheritEnv", isFlagOrNames],
  ["url", isFullText],
  ["headers", isRecordOf(isText)],
  ["enabled", isFlag],
  ["disabled", isFlag],
  ["stopOnCancel", isFlag],
  ["autoApprove", isFlagOrNames],
  ["includeTools", isNames],
  ["excludeTools", isNames],
  // These are not the schema's to check (check.ts).
  ...CHECKED_ELSEWHERE.map((field): [string, () => boolean] => [field, () => true]),
]);

function isUsual(entry: object): boolean {
  if ("command" in entry && "url" in entry) return false;
  return Object.entries(entry).every(([field, value]) => USUAL.get(field)?.(value) === true);
}

/** `/mcpServers/entry/args/1` → `args[1]` */
function fieldOf(pointer: string): string {
  const steps = pointer.split("/").slice(3);
  return steps
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step, at) => (at === 0 ? step : /^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join("");
}

function reasonFor({ keyword, params, message }: CompiledError): string {
  switch (keyword) {
    case "type":
      return `must be ${[params.type].flat().map(article).join(" or ")}`;
    case "enum":
      return `must be one of ${[params.allowedValues].flat().map(String).join(", ")}`;
    case "minLength":
      return "must not be empty";
    case "minimum":
      return `must be at least ${String(params.limit)}`;
    case "maximum":
      return `must be at most ${String(params.limit)}`;
    default:
      return message ?? `breaks the rule ${keyword}`;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  string: "a string",
  array: "a list",
  object: "an object",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
};

function article(type: unknown): string {
  return WORDS[String(type)] ?? String(type);
}
