import type { CompiledError } from "../validation/compiled.js";

/** What is wrong with an entry: the field, empty for the entry itself, and the reason as the rest of a sentence. */
export interface Flaw {
  readonly field: string;
  readonly reason: string;
}

/** The first field of an entry that breaks schemas/mcp-config.schema.json, or nothing. */
export type ShapeCheck = (raw: object) => Flaw | undefined;

/** Loads the compiled schema, on first use. */
export async function loadShapeCheck(): Promise<ShapeCheck> {
  const { mcpConfig } = await import("../validation/compiled.js");
  return (raw) => {
    // The schema's only door is a whole file; one with a single entry keeps a bad entry from hiding the good ones.
    if (mcpConfig({ mcpServers: { entry: raw } })) return undefined;
    const [error] = mcpConfig.errors ?? [];
    return error === undefined ? { field: "", reason: "is malformed" } : describe(error);
  };
}

function describe(error: CompiledError): Flaw {
  return { field: fieldOf(error.instancePath), reason: reasonFor(error) };
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
  string: "a text",
  array: "a list",
  object: "an object",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
};

function article(type: unknown): string {
  return WORDS[String(type)] ?? String(type);
}
