import { CUT, cut } from "../cut.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Item } from "../session/catalog.ts";
import { firstSentence } from "./text.ts";

const SUMMARY_CHARACTERS = 120;
const SHORT = 60;
const MAX_PARAMETERS = 24;
const MAX_ARGUMENTS = 1000;
const MAX_CHOICES = 6;
const MAX_DEPTH = 2;
/** Of one signature: a few schemas that refer to one another could be read for ever. */
const MAX_SCHEMAS = 500;
const PART_CHARACTERS = 120;
const SIGNATURE_CHARACTERS = 1000;

/** A tool in the few words a model needs to choose it. */
export interface Brief {
  readonly name: string;
  readonly summary: string;
  readonly parameters: string;
}

export function brief(name: string, item: Item, detail: Detail = "types"): Brief {
  return {
    name,
    summary: firstSentence(item["description"] ?? item["title"], detail === "least" ? SHORT : SUMMARY_CHARACTERS),
    parameters: signature(item, detail),
  };
}

/** What is told of optional parameters: types, names, nothing; `least` leaves names of required ones and a short summary. */
export type Detail = "types" | "names" | "required" | "least";

/**
 * The best matches in at most `bytes` of JSON where that can be. The first three, one of which is nearly always meant, keep
 * their detail longest, so that it can be called without another look; none loses its name.
 */
export function briefs<T extends { readonly name: string; readonly item: Item }>(
  found: readonly T[],
  bytes: number,
): Brief[] {
  const shown = found.map(({ name, item }) => brief(name, item));
  let size = bytesOf(shown);
  for (const [from, end] of [[LIKELY, shown.length] as const, [0, Math.min(LIKELY, shown.length)] as const]) {
    for (const detail of ["names", "required", "least"] as const) {
      for (let at = end - 1; at >= from && size > bytes; at--) {
        const { name, item } = found[at] as T;
        const shorter = brief(name, item, detail);
        size += bytesOf(shorter) - bytesOf(shown[at]);
        shown[at] = shorter;
      }
    }
  }
  return shown;
}

const LIKELY = 3;

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Parameters as `a: string, b?: number`; also of a prompt, whose arguments are a list. Of bounded length. */
export function signature(item: Item, detail: Detail = "types"): string {
  const parameters = parametersOf(item);
  // What must be given comes first: it is what a model gets wrong.
  const ordered = [...parameters.filter(({ required }) => required), ...parameters.filter(({ required }) => !required)];
  const kept = detail === "types" || detail === "names" ? ordered : ordered.filter(({ required }) => required);
  const shown = kept.slice(0, MAX_PARAMETERS).map(({ name, required, type }) => {
    const isTyped = detail === "types" || (required && detail !== "least");
    return `${cut(name, PART_CHARACTERS)}${required ? "" : "?"}${isTyped ? `: ${cut(type(), PART_CHARACTERS)}` : ""}`;
  });
  return joined(shown, parameters.length);
}

/** The type of one parameter as a signature has it; `any` where the schema says none. */
export function typeOfParameter(schema: unknown, name: string): string {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(schema) || !isObject(properties) || !Object.hasOwn(properties, name)) return ANY;
  return typeName(properties[name], { schema, left: MAX_SCHEMAS });
}

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  type(): string;
}

function parametersOf({ arguments: list, inputSchema: schema }: Item): Parameter[] {
  if (Array.isArray(list)) return list.slice(0, MAX_ARGUMENTS).filter(isObject).map(promptArgument);
  if (!isObject(schema) || !isObject(schema["properties"])) return [];
  const required = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : []);
  const whole: Whole = { schema, left: MAX_SCHEMAS };
  return Object.entries(schema["properties"]).map(([name, property]) => ({
    name,
    required: required.has(name),
    type: () => typeName(property, whole),
  }));
}

function promptArgument({ name, required }: Item): Parameter {
  return { name: typeof name === "string" ? name : "unnamed", required: required === true, type: () => "string" };
}

function joined(shown: readonly string[], of: number): string {
  return cut((of > shown.length ? [...shown, CUT] : shown).join(", "), SIGNATURE_CHARACTERS);
}

/** The schema that a part of it can refer to, and how many more parts are looked at. */
interface Whole {
  readonly schema: Item;
  left: number;
}

function typeName(property: unknown, whole: Whole, depth = 0): string {
  if (!isObject(property) || whole.left-- <= 0) return ANY;
  const { $ref: reference, enum: choices, const: constant, type, anyOf, oneOf, allOf, items } = property;
  const referred = typeof reference === "string" ? typeName(referredTo(reference, whole), whole, depth) : ANY;
  if (referred !== ANY) return referred;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(choices) && choices.length > 0) {
    const shown = choices.slice(0, MAX_CHOICES).map((choice) => JSON.stringify(choice));
    return choices.length > MAX_CHOICES ? `${shown.join("|")}|…` : shown.join("|");
  }
  if (Array.isArray(type))
    return (
      type
        .slice(0, MAX_CHOICES)
        .filter((one) => typeof one === "string" && one !== "null")
        .map((one) => (one === "array" ? arrayName(items, whole, depth) : one))
        .join("|") || ANY
    );
  if (type === "array") return arrayName(items, whole, depth);
  if (typeof type === "string") return type;
  if (depth > MAX_DEPTH) return ANY;
  const names = (parts: readonly unknown[]): Set<string> =>
    new Set(parts.slice(0, MAX_CHOICES).map((part) => typeName(part, whole, depth + 1)));
  // What must be all of these is what the first of them says that says anything.
  if (Array.isArray(allOf)) return [...names(allOf)].find((name) => name !== ANY) ?? ANY;
  const options = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(options)) return ANY;
  const either = names(options);
  either.delete("null");
  if (options.length > MAX_CHOICES) either.add(CUT);
  return [...either].join("|") || ANY;
}

const ANY = "any";

/** A choice of elements stands in brackets: `a|b[]` is `a`, or a list of `b`. */
function arrayName(items: unknown, whole: Whole, depth: number): string {
  const element = depth > MAX_DEPTH ? ANY : typeName(items, whole, depth + 1);
  return element.includes("|") ? `(${element})[]` : `${element}[]`;
}

/** The part of the schema that a local reference names, such as `#/$defs/Color`; nothing is ever fetched. */
function referredTo(reference: string, { schema }: Whole): unknown {
  if (!reference.startsWith("#/") || reference.length > PART_CHARACTERS) return undefined;
  let found: unknown = schema;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}
