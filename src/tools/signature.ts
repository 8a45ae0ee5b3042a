import { isObject } from "../protocol/jsonrpc.ts";
import type { Item } from "../session/catalog.ts";
import { firstSentence } from "./text.ts";

const SUMMARY_CHARACTERS = 120;
const MAX_PARAMETERS = 24;
const MAX_CHOICES = 6;

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

/** Parameters as `a: string, b?: number`; also of a prompt, whose arguments are a list. */
export function signature(item: Item): string {
  const { arguments: list, inputSchema: schema } = item;
  if (Array.isArray(list)) return list.filter(isObject).slice(0, MAX_PARAMETERS).map(promptArgument).join(", ");
  if (!isObject(schema) || !isObject(schema["properties"])) return "";
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const entries = Object.entries(schema["properties"]);
  // What must be given comes first: it is what a model gets wrong.
  const ordered = [
    ...entries.filter(([name]) => required.includes(name)),
    ...entries.filter(([name]) => !required.includes(name)),
  ];
  const shown = ordered
    .slice(0, MAX_PARAMETERS)
    .map(([name, property]) => `${name}${required.includes(name) ? "" : "?"}: ${typeName(property)}`);
  return entries.length > MAX_PARAMETERS ? `${shown.join(", ")}, …` : shown.join(", ");
}

function promptArgument(argument: Item): string {
  return `${String(argument["name"])}${argument["required"] === true ? "" : "?"}: string`;
}

function typeName(property: unknown, depth = 0): string {
  if (!isObject(property)) return "any";
  const { enum: choices, const: constant, type, anyOf, oneOf, items } = property;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, MAX_CHOICES).map((choice) => JSON.stringify(choice));
    return choices.length > MAX_CHOICES ? `${shown.join("|")}|…` : shown.join("|");
  }
  if (Array.isArray(type)) return type.filter((one) => one !== "null").join("|");
  if (type === "array") return depth > 2 ? "any[]" : `${typeName(items, depth + 1)}[]`;
  if (typeof type === "string") return type;
  const options = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(options) || depth > 2) return "any";
  const names = new Set(options.slice(0, MAX_CHOICES).map((option) => typeName(option, depth + 1)));
  names.delete("null");
  return [...names].join("|") || "any";
}
