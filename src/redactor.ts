import { CUT } from "./cut.ts";

const MASK = "[redacted]";
const MIN_CHARACTERS = 8;
/** Fewer characters of a secret give nothing away, and may be any word. */
const MIN_PIECE = 6;
const MAX_SECRETS = 4096;

/** Where something begins and ends in a text. */
type Span = readonly [start: number, end: number];

/** Removes known secrets from what people and models read. One per plugin; the sources of secrets add to it. */
export class Redactor {
  readonly #secrets = new Set<string>();
  #spellings: readonly string[] | undefined;

  /** Values shorter than 8 characters are not taken for secrets: masking them would garble ordinary text. */
  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (secret.length < MIN_CHARACTERS || this.#secrets.has(secret)) continue;
      if (this.#secrets.size >= MAX_SECRETS) this.#dropOldest();
      this.#secrets.add(secret);
      this.#spellings = undefined;
    }
  }

  /**
   * The text with every known secret masked, in its plain, URL-encoded and JSON-escaped spelling and on one line; beside the
   * mark of a cut also what the cut has left of one.
   */
  text(text: string): string {
    if (this.#secrets.size === 0) return text;
    this.#spellings ??= [...new Set(spellings(this.#secrets))];
    const spans: Span[] = [];
    const hasCut = text.includes(CUT);
    for (const secret of this.#spellings) {
      for (const span of wholes(text, secret)) spans.push(span);
      if (!hasCut) continue;
      for (const span of pieces(text, secret, false)) spans.push(span);
      for (const span of pieces(text, secret, true)) spans.push(span);
    }
    return spans.length === 0 ? text : masked(text, spans);
  }

  /** The same for the end of a text whose beginning was dropped without a mark. */
  end(text: string): string {
    return this.text(CUT + text).slice(CUT.length);
  }

  /** A copy of plain data with every string and key masked; the values of the `except` members stay as they are. */
  data<T>(value: T, except: ReadonlySet<string> = new Set()): T {
    return this.#copy(value, except) as T;
  }

  /** What is excepted is meant at the top only: a server may use the same names further down. */
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

function* wholes(text: string, secret: string): Iterable<Span> {
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
    yield [at, at + secret.length];
}

/**
 * What a cut has left of a secret: its longest beginning that stands before the mark, or `backwards` its longest end after it.
 * In linear time (Knuth, Morris, Pratt), for a server may have chosen both the text and the token.
 */
function* pieces(text: string, secret: string, backwards: boolean): Iterable<Span> {
  const step = backwards ? -1 : 1;
  const first = backwards ? text.lastIndexOf(secret.slice(-MIN_PIECE)) : text.indexOf(secret.slice(0, MIN_PIECE));
  if (first < 0) return;
  const last = backwards ? text.indexOf(CUT) : text.lastIndexOf(CUT);
  const pattern = backwards ? secret.split("").reverse().join("") : secret;
  const borders = bordersOf(pattern);
  let matched = 0;
  for (let at = backwards ? first + MIN_PIECE - 1 : first; (last - at) * step >= 0; at += step) {
    if (text[at] === CUT && matched >= MIN_PIECE) yield backwards ? [at + 1, at + 1 + matched] : [at - matched, at];
    while (matched > 0 && text[at] !== pattern[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === pattern[matched]) matched++;
  }
}

/** For each beginning of a pattern, the length of the longest shorter one that it ends with. */
function bordersOf(pattern: string): Uint32Array {
  const borders = new Uint32Array(pattern.length);
  for (let at = 1, length = 0; at < pattern.length; at++) {
    while (length > 0 && pattern[at] !== pattern[length]) length = borders[length - 1] ?? 0;
    if (pattern[at] === pattern[length]) length++;
    borders[at] = length;
  }
  return borders;
}

/** Spans that overlap have one mask: a secret may contain another. */
function masked(text: string, spans: Span[]): string {
  let clean = "";
  let done = 0;
  for (const [start, end] of spans.sort(([a], [b]) => a - b)) {
    if (start >= done) clean += text.slice(done, start) + MASK;
    done = Math.max(done, end);
  }
  return clean + text.slice(done);
}

function* spellings(secrets: Iterable<string>): Iterable<string> {
  for (const secret of secrets) {
    // A quotation has its blanks squeezed.
    const line = secret.replace(/\s+/g, " ").trim();
    for (const spelling of line.length < MIN_CHARACTERS ? [secret] : [secret, line]) {
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
