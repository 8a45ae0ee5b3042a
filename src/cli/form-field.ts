import { LIMITS } from "../limits.ts";
import { type Choice, choicesOf, textOf } from "../protocol/choices.ts";
import { isOfFormat } from "../protocol/formats.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { quoteOpenly, quoteText } from "../remote-text.ts";
import { checkAgainst } from "../validation/validator.ts";
import type { Person } from "./person.ts";
import type { Terminal } from "./terminal.ts";

export interface Field {
  readonly name: string;
  readonly property: Readonly<Record<string, unknown>>;
  readonly required: boolean;
  readonly signal: AbortSignal;
}

const LABEL_CHARACTERS = 200;
const SHOWN_CHOICES = 100;

/** Asks for one field of a form until the answer fits its schema; `before` has the answers to be changed, by name. */
export async function askField(
  field: Field,
  person: Person,
  terminal: Terminal,
  before: ReadonlyMap<string, unknown>,
): Promise<{ value: unknown } | "nothing" | "cancelled"> {
  const { name, property, required, signal } = field;
  const fallback = before.has(name) ? before.get(name) : property["default"];
  const { type, items } = property;
  const choices = choicesOf(type === "array" && isObject(items) ? items : property) ?? [];
  const text = introduction(field, choices);
  const brackets =
    fallback === undefined ? (required ? "" : " []") : ` [${quoteOpenly(asText(fallback), LABEL_CHARACTERS)}]`;
  terminal.note(text);
  for (;;) {
    const line = await person.ask({ prompt: `  ${quoteText(name, LABEL_CHARACTERS)}${brackets}: `, signal });
    if (line === undefined) return "cancelled";
    if (line.trim() === "" && fallback !== undefined) return { value: fallback };
    if (line.trim() === "" && !required) return "nothing";
    const answer = await answerOf(line, field, choices);
    if (typeof answer !== "string") return answer;
    terminal.note(`  ${terminal.styleNote("yellow", answer)}`);
  }
}

/** The value of a typed line, or what is wrong with it. */
async function answerOf(
  line: string,
  { property }: Field,
  choices: readonly Choice[],
): Promise<{ value: unknown } | string> {
  const value = line.trim() === "" ? undefined : read(line, property, choices);
  if (value === undefined) return expected(property, choices);
  if (typeof value === "string" && !isOfFormat(value, property["format"]))
    return `It must be of the format ${String(property["format"])}.`;
  const check = await checkAgainst(property, value, LIMITS);
  return check.kind === "mismatch" ? `It ${check.reason}.` : { value };
}

function introduction({ name, property, required }: Field, choices: readonly Choice[]): string {
  const { title, description } = property;
  const parts = [title, description].filter((part): part is string => typeof part === "string" && part !== "");
  const label = `${parts.length === 0 ? name : parts.join(": ")}${required ? "" : " (optional)"}`;
  const lines = choices
    .slice(0, SHOWN_CHOICES)
    .map(({ label: choice }, index) => `    ${index + 1}  ${quoteText(choice, LABEL_CHARACTERS)}`);
  return [quoteText(label, LABEL_CHARACTERS), ...lines].join("\n");
}

/** The typed line as a value of the field's type; nothing where it is none. */
function read(line: string, property: Readonly<Record<string, unknown>>, choices: readonly Choice[]): unknown {
  const typed = line.trim();
  switch (property["type"]) {
    case "boolean":
      return /^(y|yes|true)$/i.test(typed) ? true : /^(n|no|false)$/i.test(typed) ? false : undefined;
    case "number":
    case "integer":
      return typed !== "" && Number.isFinite(Number(typed)) ? Number(typed) : undefined;
    case "array": {
      const values = typed.split(",").map((part) => chosen(part.trim(), choices));
      return values.includes(undefined) ? undefined : values;
    }
    default:
      return choices.length === 0 ? line : chosen(typed, choices);
  }
}

/** By value, by title, or by the number before it. */
function chosen(typed: string, choices: readonly Choice[]): unknown {
  const exact = choices.find(({ value, label }) => String(value) === typed || label === typed);
  return (exact ?? (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined))?.value;
}

function expected(property: Readonly<Record<string, unknown>>, choices: readonly Choice[]): string {
  if (choices.length > 0)
    return property["type"] === "array" ? "Name some of these, separated by commas." : "Name one of these.";
  if (property["type"] === "boolean") return "Answer y or n.";
  return property["type"] === "string" || property["type"] === undefined
    ? "An answer is needed."
    : "A number is needed.";
}

function asText(value: unknown): string {
  if (typeof value === "boolean") return value ? "y" : "n";
  return textOf(value);
}
