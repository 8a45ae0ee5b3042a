import { CUT } from "./cut.ts";
import { MASK } from "./mask.ts";

const MIN_CHARACTERS = 8;
/** Fewer characters of a secret give nothing away, and may be any word. */
const MIN_PIECE = 6;
const MAX_SECRETS = 4096;
/** The lines of a private key may be shown one by one, or with other line ends. */
const LINE_END = /\r\n|\r|\n/;
const MAX_LINES = 100;
/** Each character shifts the hash by this much, so that it covers exactly the latest `MIN_PIECE` characters. */
const HASH_SHIFT = 3;
const HASHES = 1 << (HASH_SHIFT * MIN_PIECE);

/** Where something begins and ends in a text. */
type Span = readonly [start: number, end: number];

/** Removes known secrets from what people and models read. One per plugin; the sources of secrets add to it. */
export class Redactor {
  readonly #secrets = new Set<string>();
  #search: Search | undefined;

  /** Values shorter than 8 characters are not taken for secrets: masking them would garble ordinary text. */
  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (secret.length < MIN_CHARACTERS || this.#secrets.has(secret)) continue;
      if (this.#secrets.size >= MAX_SECRETS) this.#dropOldest();
      this.#secrets.add(secret);
      this.#search = undefined;
    }
  }

  /**
   * The text with every known secret masked, in its plain, URL-encoded and JSON-escaped spelling, on one line and line by line; beside the
   * mark of a cut also what the cut has left of one.
   */
  text(text: string): string {
    if (this.#secrets.size === 0) return text;
    this.#search ??= new Search(new Set(spellings(this.#secrets)));
    return this.#search.masked(text);
  }

  /** As `text`, for a text whose beginning was dropped without a mark: a secret may have been cut there. */
  end(text: string): string {
    return this.text(CUT + text).slice(CUT.length);
  }

  /** A copy of plain data with every string and key masked; the values of the `except` members stay as they are. */
  data<T>(value: T, except: ReadonlySet<string> = new Set()): T {
    return this.#copy(value, except) as T;
  }

  /** `except` applies to the top level only: a server may use the same names further down. */
  #copy(value: unknown, except: ReadonlySet<string> | undefined): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, undefined));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => [
      this.text(key),
      except?.has(key) ? item : this.#copy(item, undefined),
    ]);
    return Object.fromEntries(entries);
  }

  #dropOldest(): void {
    for (const oldest of this.#secrets) {
      this.#secrets.delete(oldest);
      return;
    }
  }
}

/**
 * A search for many secrets at once. A rolling hash finds in one pass which secrets have their first or last six characters in the
 * text; only those are searched for one by one.
 */
class Search {
  readonly #byBeginning = new Map<string, string[]>();
  readonly #byEnd = new Map<string, string[]>();
  /** 1 where a beginning or an end has this hash. */
  readonly #hashes = new Uint8Array(HASHES);

  constructor(secrets: Iterable<string>) {
    for (const secret of secrets) {
      this.#enter(this.#byBeginning, secret.slice(0, MIN_PIECE), secret);
      this.#enter(this.#byEnd, secret.slice(-MIN_PIECE), secret);
    }
  }

  masked(text: string): string {
    const found = this.#found(text);
    if (found.size === 0) return text;
    const cover = new Cover(text.length);
    const marks = Array.from(wholes(text, CUT), ([place]) => place);
    const reversed = marks.toReversed();
    for (const characters of found) {
      for (const secret of this.#byBeginning.get(characters) ?? []) {
        if (found.has(secret.slice(-MIN_PIECE))) for (const span of wholes(text, secret)) cover.add(span);
        coverPieces(cover, text, secret, marks, false);
      }
      for (const secret of this.#byEnd.get(characters) ?? []) coverPieces(cover, text, secret, reversed, true);
    }
    return cover.masked(text);
  }

  #enter(index: Map<string, string[]>, characters: string, secret: string): void {
    const known = index.get(characters);
    if (known === undefined) index.set(characters, [secret]);
    else known.push(secret);
    let hash = 0;
    for (let at = 0; at < MIN_PIECE; at++) hash = hashed(hash, characters.charCodeAt(at));
    this.#hashes[hash] = 1;
  }

  /** The beginnings and ends that are in the text. */
  #found(text: string): Set<string> {
    const found = new Set<string>();
    const hashes = this.#hashes;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = hashed(hash, text.charCodeAt(at));
      if (hashes[hash] === 0 || at < MIN_PIECE - 1) continue;
      const characters = text.slice(at + 1 - MIN_PIECE, at + 1);
      if (this.#byBeginning.has(characters) || this.#byEnd.has(characters)) found.add(characters);
    }
    return found;
  }
}

const PLAIN = 0;
const BEGINS = 1;
const GOES_ON = 2;

/**
 * The characters of a text that are to be masked, one byte each: its size does not grow with the number of matches. Overlapping
 * matches share one mask, since a secret may contain another.
 */
class Cover {
  readonly #cells: Uint8Array;

  constructor(length: number) {
    this.#cells = new Uint8Array(length);
  }

  add([start, end]: Span): void {
    if (this.#cells[start] === PLAIN) this.#cells[start] = BEGINS;
    this.#cells.fill(GOES_ON, start + 1, end);
  }

  masked(text: string): string {
    const cells = this.#cells;
    let clean = "";
    let plain = 0;
    for (let at = 0; at < cells.length; at++) {
      if (cells[at] === PLAIN) continue;
      if (cells[at] === BEGINS) clean += text.slice(plain, at) + MASK;
      plain = at + 1;
    }
    return plain === 0 ? text : clean + text.slice(plain);
  }
}

/** The hash with one more character. */
function hashed(hash: number, unit: number): number {
  return ((hash << HASH_SHIFT) ^ unit) & (HASHES - 1);
}

function* wholes(text: string, secret: string): Iterable<Span> {
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
    yield [at, at + secret.length];
}

/**
 * What cuts have left of a secret: its longest beginning that stands before a mark, or `backwards` its longest end after one.
 * In linear time (Knuth, Morris, Pratt), for a server may have chosen both the text and the token. `marks` are the places of
 * the marks, in the order they are met.
 */
function coverPieces(cover: Cover, text: string, whole: string, marks: readonly number[], backwards: boolean): void {
  if (marks.length === 0) return;
  const step = backwards ? -1 : 1;
  // No piece is longer than the text, which may be much shorter than a secret of the server's choice.
  const secret = backwards ? whole.slice(-text.length) : whole.slice(0, text.length);
  const pattern = Uint16Array.from({ length: secret.length }, (_, at) => secret.charCodeAt(at));
  if (backwards) pattern.reverse();
  const borders = bordersOf(pattern);
  let at = backwards ? text.length - 1 : 0;
  let matched = 0;
  for (const mark of marks) {
    // What is farther away than the secret is long cannot be a piece at this mark.
    const from = mark - step * (secret.length - 1);
    if ((from - at) * step > 0) [at, matched] = [from, 0];
    // The mark itself may be a character of the secret.
    for (; (mark - at) * step >= 0; at += step) {
      if (at === mark && matched >= MIN_PIECE) cover.add(backwards ? [at + 1, at + 1 + matched] : [at - matched, at]);
      const unit = text.charCodeAt(at);
      while (matched > 0 && unit !== pattern[matched]) matched = borders[matched - 1] ?? 0;
      if (unit === pattern[matched]) matched++;
    }
  }
}

/** For each beginning of a pattern, the length of the longest shorter one that it ends with. */
function bordersOf(pattern: Uint16Array): Uint32Array {
  const borders = new Uint32Array(pattern.length);
  for (let at = 1, length = 0; at < pattern.length; at++) {
    while (length > 0 && pattern[at] !== pattern[length]) length = borders[length - 1] ?? 0;
    if (pattern[at] === pattern[length]) length++;
    borders[at] = length;
  }
  return borders;
}

function* spellings(secrets: Iterable<string>): Iterable<string> {
  for (const secret of secrets) {
    // A quotation has its blanks squeezed.
    const line = secret.replace(/\s+/g, " ").trim();
    const lines = secret.split(LINE_END, MAX_LINES).map((one) => one.trim());
    for (const spelling of new Set([secret, ...[line, ...lines].filter(({ length }) => length >= MIN_CHARACTERS)])) {
      yield spelling;
      yield encodeSafely(spelling);
      yield JSON.stringify(spelling).slice(1, -1);
    }
  }
}

function encodeSafely(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // A lone surrogate has no URL spelling.
  }
}
