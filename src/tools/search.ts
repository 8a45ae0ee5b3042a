import type { Item } from "../session/catalog.ts";
import { type SearchTexts, searchTexts } from "./search-texts.ts";
import { isAction, isReading, STOP_WORDS, stem, synonymsOf, words } from "./vocabulary.ts";

/** What a word found in a field is worth, and how many words such a field usually has. */
const FIELDS: Readonly<Record<keyof SearchTexts, FieldWeight>> = {
  name: { weight: 8, usual: 3, lengthShare: 0.9 },
  title: { weight: 3, usual: 3, lengthShare: 0.6 },
  firstSentence: { weight: 2.5, usual: 10, lengthShare: 0.6 },
  description: { weight: 0.7, usual: 30, lengthShare: 0.6 },
  parameters: { weight: 1, usual: 6, lengthShare: 0.6 },
  parameterTexts: { weight: 0.5, usual: 30, lengthShare: 0.6 },
  server: { weight: 1.5, usual: 1, lengthShare: 0 },
};
const FIELD_NAMES = Object.keys(FIELDS) as (keyof SearchTexts)[];

interface FieldWeight {
  readonly weight: number;
  readonly usual: number;
  /** How much of the weight a longer field loses. */
  readonly lengthShare: number;
}

const SYNONYM_SHARE = 0.6;
const PREFIX_SHARE = 0.5;
const MIN_PREFIX = 4;
const SATURATION = 1.2;
const COVERAGE_EXPONENT = 1.2;
const IMPLIED_WEIGHT = 0.4;
const PARTICIPLE_WEIGHT = 0.2;
const MAX_TERMS = 32;
const QUERY_CHARACTERS = 2000;

/** One search term, of one or more words of the query. */
interface Term {
  readonly stem: string;
  readonly synonyms: ReadonlySet<string>;
  readonly weight: number;
  readonly kind: "thing" | "action" | "reading" | "implied" | "joined";
}

/** A term that a word matches: its index, and how well, with 1 for the same word. */
type Match = readonly [term: number, share: number];

interface Document {
  /** By term: what its occurrences are worth. */
  readonly worth: readonly number[];
  /** By term: the share of its best occurrence, 0 if there is none. */
  readonly best: readonly number[];
}

/**
 * The items that fit a query, best first: by name, then title, then description and parameter names, and the server's
 * name where several are searched. BM25 over weighted fields. Nothing is kept: a ranking reads the lists anew.
 */
export function rank<T extends { readonly item: Item; readonly server?: string }>(
  query: string,
  candidates: readonly T[],
): T[] {
  const terms = termsOf(query);
  if (terms.length === 0) return [...candidates];
  const matches = matcher(terms);
  const documents = candidates.map(({ item, server }) => {
    return documentOf(searchTexts(item, server, candidates.length), terms, matches);
  });
  const weights = terms.map(({ weight }, at) => weight * rarity(at, documents));
  // Where what is asked for is found anywhere, a tool that only lists or shows something else is no answer.
  const telling = terms.flatMap(({ kind }, at) => (kind === "reading" || kind === "implied" ? [] : [at]));
  const found = (document: Document): boolean => telling.some((at) => (document.best[at] ?? 0) > 0);
  const isFound = documents.some(found);
  // What is only implied finds nothing by itself.
  if (!isFound && terms.every(({ kind }) => kind !== "reading")) return [];
  return candidates
    .map((candidate, index) => ({ candidate, index, document: documents[index] as Document }))
    .filter(({ document }) => !isFound || found(document))
    .map(({ candidate, index, document }) => ({ candidate, index, score: score(document, terms, weights) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ candidate }) => candidate);
}

function termsOf(query: string): Term[] {
  const asked = words(query.slice(0, QUERY_CHARACTERS))
    .slice(0, MAX_TERMS)
    .map((word) => word.toLowerCase());
  const meaningful = asked.some((word) => !STOP_WORDS.has(word));
  const terms = new Map<string, Term>();
  let isOfState = false;
  for (let at = 0; at < asked.length; at++) {
    const word = asked[at] ?? "";
    const phrase = stem(word + (asked[at + 1] ?? ""));
    const isPhrase = at + 1 < asked.length && isAction(phrase);
    const root = isPhrase ? phrase : stem(word);
    if (isPhrase) at++;
    else if (meaningful && STOP_WORDS.has(word)) continue;
    if (terms.has(root)) continue;
    const isState = isOpenState(asked, at);
    isOfState ||= isState;
    // `failed` and `running` say which, not what to do.
    const namesAction = isAction(root);
    const isVerb = namesAction && !isState && !/.(?:ed|ing)$/.test(word);
    const kind = !isVerb ? "thing" : isReading(root) ? "reading" : "action";
    const weight = namesAction && !isVerb ? PARTICIPLE_WEIGHT : 1;
    terms.set(root, { stem: root, synonyms: isState ? NO_SYNONYMS : synonymsOf(root), weight, kind });
  }
  const all = [...terms.values()];
  // Who names only a thing wants to see it, and who names all in a state wants their list.
  if (all.length > 0 && all.every(({ kind }) => kind === "thing"))
    all.push(
      isOfState
        ? { stem: LIST, synonyms: synonymsOf(LIST), weight: 1, kind: "reading" }
        : { stem: GET, synonyms: synonymsOf(GET), weight: IMPLIED_WEIGHT, kind: "implied" },
    );
  for (const joined of joinedWords(asked)) all.push({ stem: joined, synonyms: NO_SYNONYMS, weight: 1, kind: "joined" });
  return all;
}

/** Whether this word is `open` and says which: `open issues` are those that are open, `open an issue` makes one. */
function isOpenState(asked: readonly string[], at: number): boolean {
  if (asked[at] !== "open") return false;
  const [next = "", last = ""] = asked.slice(at + 1, at + 3);
  return PLURAL.test(next) || (!STOP_WORDS.has(next) && PLURAL.test(last));
}

const NO_SYNONYMS: ReadonlySet<string> = new Set();
const GET = "get";
const LIST = "list";
const PLURAL = /[^isu]s$/;

/** Two or three words that a server may write as one: `auto reply`, `who am I`. */
function joinedWords(asked: readonly string[]): Set<string> {
  const joined = new Set<string>();
  for (let at = 0; at + 1 < asked.length; at++) {
    joined.add(stem(asked.slice(at, at + 2).join("")));
    if (at + 2 < asked.length) joined.add(stem(asked.slice(at, at + 3).join("")));
  }
  return joined;
}

/** Returns a function, with a cache, that finds the terms that a word matches. */
function matcher(terms: readonly Term[]): (word: string) => readonly Match[] {
  const known = new Map<string, readonly Match[]>();
  // Most words begin unlike any term.
  const beginnings = new Uint8Array(BEGINNINGS);
  for (const { stem: wanted, synonyms } of terms)
    for (const root of [wanted, ...synonyms]) beginnings[beginning(root)] = 1;
  return (word) => {
    if (beginnings[beginning(word)] === 0) return NO_MATCH;
    let matches = known.get(word);
    if (matches === undefined) {
      const root = stem(word);
      matches = terms.map((term, at): Match => [at, shareOf(term, root)]).filter(([, share]) => share > 0);
      known.set(word, matches);
    }
    return matches;
  };
}

const NO_MATCH: readonly Match[] = [];
const BEGINNINGS = 1025;
const OTHER_SCRIPT = 1024;

/** A number for the first two letters of a word, the same in both cases; one for all other scripts. */
function beginning(word: string): number {
  const first = word.charCodeAt(0);
  const second = word.charCodeAt(1);
  return first > 127 || second > 127 ? OTHER_SCRIPT : ((first & 31) << 5) | (second & 31);
}

function shareOf({ stem: wanted, synonyms, kind }: Term, root: string): number {
  if (root === wanted) return kind === "implied" ? SYNONYM_SHARE : 1;
  if (synonyms.has(root)) return SYNONYM_SHARE;
  if (kind !== "thing") return 0;
  if (wanted.length >= MIN_PREFIX && root.startsWith(wanted)) return PREFIX_SHARE;
  return root.length >= MIN_PREFIX && wanted.startsWith(root) ? PREFIX_SHARE : 0;
}

function documentOf(texts: SearchTexts, terms: readonly Term[], matches: (word: string) => readonly Match[]): Document {
  const worth = new Array<number>(terms.length).fill(0);
  const best = new Array<number>(terms.length).fill(0);
  for (const field of FIELD_NAMES) {
    const found = words(texts[field]);
    let hits: number[] | undefined;
    for (const word of found) {
      for (const [at, share] of matches(word)) {
        hits ??= new Array<number>(terms.length).fill(0);
        hits[at] = (hits[at] ?? 0) + share;
        if (share > (best[at] ?? 0)) best[at] = share;
      }
    }
    if (hits === undefined) continue;
    const { weight, usual, lengthShare } = FIELDS[field];
    // A short name says more, but even a long one more than a title. A short description is no better than a usual one.
    const length = field === "name" ? Math.min(found.length, 2 * usual) : Math.max(found.length, usual);
    const unit = weight / (1 - lengthShare + (lengthShare * length) / usual);
    for (const [at, count] of hits.entries())
      worth[at] = (worth[at] ?? 0) + (unit * count * (1 + SATURATION)) / (count + SATURATION);
  }
  return { worth, best };
}

/** A term that few of the items have tells more. */
function rarity(at: number, documents: readonly Document[]): number {
  const holding = documents.reduce((sum, { best }) => sum + (best[at] ?? 0), 0);
  return Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5)) + 0.1;
}

function score({ worth }: Document, terms: readonly Term[], weights: readonly number[]): number {
  let total = 0;
  let asked = 0;
  let matched = 0;
  terms.forEach(({ kind }, at) => {
    const value = worth[at] ?? 0;
    total += value * (weights[at] ?? 1);
    if (kind === "implied" || kind === "joined") return;
    asked++;
    if (value > 0) matched++;
  });
  // Covering more of the query beats repeating one word of it.
  return total * (Math.max(matched, 0.5) / asked) ** COVERAGE_EXPONENT;
}
