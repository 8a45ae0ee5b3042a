import { isObject } from "../protocol/jsonrpc.ts";
import type { Item } from "../session/catalog.ts";

/** Words of one item by where they stand; a word in the name says more than one in the description. */
interface Document {
  readonly fields: readonly (readonly string[])[];
}

const FIELD_WEIGHTS = [8, 4, 1.5, 1] as const;
const PREFIX_SHARE = 0.6;
const MIN_PREFIX = 3;
const SATURATION = 1.2;
const DESCRIPTION_WORDS = 120;

/** The items that fit a query, best first: by name, then title, then description and parameter names. */
export function rank<T extends { readonly item: Item }>(query: string, candidates: readonly T[]): T[] {
  const wanted = [...new Set(words(query))];
  const meaningful = wanted.filter((word) => !STOP_WORDS.has(word));
  const terms = meaningful.length > 0 ? meaningful : wanted;
  if (terms.length === 0) return [...candidates];
  const docs = candidates.map(({ item }) => documentOf(item));
  const rarity = terms.map((term) => inverseFrequency(term, docs));
  return candidates
    .map((candidate, index) => ({ candidate, score: score(terms, rarity, docs[index] as Document), index }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ candidate }) => candidate);
}

function score(terms: readonly string[], rarity: readonly number[], document: Document): number {
  let total = 0;
  let matched = 0;
  terms.forEach((term, at) => {
    let best = 0;
    document.fields.forEach((field, index) => {
      const hits = occurrences(term, field);
      if (hits > 0) best += (FIELD_WEIGHTS[index] ?? 1) * (hits / (hits + SATURATION)) * (1 + SATURATION);
    });
    if (best > 0) matched++;
    total += best * (rarity[at] ?? 1);
  });
  // Covering more of the query beats repeating one word of it.
  return total * (matched / terms.length) ** 1.5;
}

function occurrences(term: string, field: readonly string[]): number {
  let hits = 0;
  for (const word of field) {
    if (word === term) hits += 1;
    else if (term.length >= MIN_PREFIX && word.length >= MIN_PREFIX && (word.startsWith(term) || term.startsWith(word)))
      hits += PREFIX_SHARE;
  }
  return hits;
}

function inverseFrequency(term: string, docs: readonly Document[]): number {
  const holding = docs.filter((doc) => doc.fields.some((field) => occurrences(term, field) > 0)).length;
  return Math.log(1 + (docs.length - holding + 0.5) / (holding + 0.5)) + 0.1;
}

function documentOf(item: Item): Document {
  const { name, uri, uriTemplate, title, description, inputSchema, arguments: list } = item;
  const properties =
    isObject(inputSchema) && isObject(inputSchema["properties"]) ? Object.keys(inputSchema["properties"]) : [];
  const listed = Array.isArray(list) ? list.filter(isObject).map((argument) => String(argument["name"])) : [];
  return {
    fields: [
      words([name, uri, uriTemplate].filter((text) => typeof text === "string").join(" ")),
      words(typeof title === "string" ? title : ""),
      words(typeof description === "string" ? description : "").slice(0, DESCRIPTION_WORDS),
      words([...properties, ...listed].join(" ")),
    ],
  };
}

const ASCII = /^[\0-\x7f]*$/;

/** Words in lower case and without plural, out of prose, camelCase, snake_case and kebab-case alike. */
function words(text: string): string[] {
  const bounded = text.slice(0, 4000);
  // Classes of all scripts take milliseconds to compile; they are used where there are other scripts.
  const parts = ASCII.test(bounded) ? asciiWords(bounded) : wordsOfAnyScript(bounded);
  return parts.filter((word) => word !== "").map(stem);
}

function asciiWords(text: string): string[] {
  const split = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return split.toLowerCase().split(/[^a-z0-9]+/);
}

function wordsOfAnyScript(text: string): string[] {
  const split = text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2");
  return split.toLowerCase().split(/[^\p{L}\p{N}]+/u);
}

function stem(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith("ing")) return word.slice(0, -3);
  if (word.length > 4 && /(?:sh|ch|ss|x|z)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith("s") && !word.endsWith("ss")) return word.slice(0, -1);
  if (word.length > 4 && word.endsWith("ed")) return word.slice(0, -2);
  return word;
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an the of to in on for with from by and or is are be my me i it its this that all some any how do doe can please want need show get give use using tool what which".split(
    " ",
  ),
);
