import { isObject } from "../protocol/jsonrpc.ts";
import type { Item } from "../session/catalog.ts";
import { firstSentence, withoutHalfCharacter } from "./text.ts";

const SUMMARY_CHARACTERS = 120;
const MAX_PARAMETERS = 24;
const MAX_CHOICES = 6;
const PART_CHARACTERS = 120;
const SIGNATURE_CHARACTERS = 1000;

/** A tool in the few words a model needs to choose it. */
export interface Brief {
  readonly name: string;
  readonly summary: string;
  readonly parameters: string;
}

export function brief(name: string, item: Item): Brief {
  return {
    name,
    summary: firstSentence(item["description"] ?? item["title"], SUMMARY_CHARACTERS),
    parameters: signature(item),
  };
}

/** Parameters as `a: string, b?: number`; also of a prompt, whose arguments are a list. Of bounded length. */
export function signature(item: Item): string {
  const { arguments: list, inputSchema: schema } = item;
  if (Array.isArray(list))
    return joined(list.slice(0, MAX_PARAMETERS).filter(isObject).map(promptArgument), list.length);
  if (!isObject(schema) || !isObject(schema["properties"])) return "";
  const required = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : []);
  const entries = Object.entries(schema["properties"]);
  // What must be given comes first: it is what a model gets wrong.
  const ordered = [
    ...entries.filter(([name]) => required.has(name)),
    ...entries.filter(([name]) => !required.has(name)),
  ];
  const shown = ordered
    .slice(0, MAX_PARAMETERS)
    .map(([name, property]) => `${cut(name)}${required.has(name) ? "" : "?"}: ${cut(typeName(property))}`);
  return joined(shown, entries.length);
}

function joined(shown: readonly string[], of: number): string {
  const text = of > shown.length ? `${shown.join(", ")}, …` : shown.join(", ");
  return text.length > SIGNATURE_CHARACTERS ? `${withoutHalfCharacter(text.slice(0, SIGNATURE_CHARACTERS))}…` : text;
}

function promptArgument({ name, required }: Item): string {
  return `${typeof name === "string" ? cut(name) : "unnamed"}${required === true ? "" : "?"}: string`;
}

function cut(text: string): string {
  return text.length > PART_CHARACTERS ? `${withoutHalfCharacter(text.slice(0, PART_CHARACTERS))}…` : text;
}

function typeName(property: unknown, depth = 0): string {
  if (!isObject(property)) return "any";
  const { enum: choices, const: constant, type, anyOf, oneOf, items } = property;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, MAX_CHOICES).map((choice) => JSON.stringify(choice));
    return choices.length > MAX_CHOICES ? `${shown.join("|")}|…` : shown.join("|");
  }
  if (Array.isArray(type))
    return type
      .slice(0, MAX_CHOICES)
      .filter((one) => typeof one === "string" && one !== "null")
      .join("|");
  if (type === "array") return depth > 2 ? "any[]" : `${typeName(items, depth + 1)}[]`;
  if (typeof type === "string") return type;
  const options = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(options) || depth > 2) return "any";
  const names = new Set(options.slice(0, MAX_CHOICES).map((option) => typeName(option, depth + 1)));
  names.delete("null");
  return [...names].join("|") || "any";
}
