import { CUT } from "../cut.ts";
import { withoutHalfCharacter } from "../half-character.ts";
import { lazyRegExp } from "../lazy-regexp.ts";

const LOOKED_AT_CHARACTERS = 2000;
// Chinese and Japanese marks by number: one literal beyond Latin-1 would have V8 keep the whole bundle at two bytes a character.
// Without the flags for case and for Unicode, with which V8 takes milliseconds to compile it.
const SENTENCE_END = /(?<!\b(?:[Ee]\.[Gg]|[Ii]\.[Ee]|[Vv][Ss]))[.!?\u3002\uff01\uff1f](?=\s|$)|(?=\n[^\S\n]*\n)/;

/** Where the first sentence of a text ends: behind its mark, or with its paragraph, since a heading often has no full stop. */
export function sentenceEnd(text: string): number {
  const end = SENTENCE_END.exec(text);
  return end === null ? text.length : end.index + end[0].length;
}

/** The first sentence of a text, on one line, at most `max` characters; a longer one is cut between words. */
export function firstSentence(text: unknown, max: number): string {
  if (typeof text !== "string") return "";
  const beginning = text.slice(0, LOOKED_AT_CHARACTERS).trim();
  const sentence = beginning.slice(0, sentenceEnd(beginning)).replace(/\s+/g, " ").trim();
  if (sentence.length <= max) return sentence;
  const space = sentence.slice(0, max).lastIndexOf(" ");
  return `${withoutHalfCharacter(sentence.slice(0, space > max / 2 ? space : max - 1))}${CUT}`;
}

/** The longest start of a text that has at most `bytes` bytes in UTF-8. */
export function headOf(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const kept = Buffer.from(text.slice(0, bytes)).subarray(0, bytes);
  return kept.toString("utf8").replace(/\ufffd+$/, "");
}

/** The longest end of a text that has at most `bytes` bytes in UTF-8. */
export function tailOf(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const all = Buffer.from(text.slice(-bytes));
  let start = Math.max(0, all.length - bytes);
  while (start < all.length && ((all[start] ?? 0) & 0xc0) === 0x80) start++;
  return all
    .subarray(start)
    .toString("utf8")
    .replace(/^\ufffd+/, "");
}

/** Fewer characters stand in many names by chance. */
const MIN_CONTAINED = 3;

/** Names that contain what was asked, or that it contains, and those within a small edit distance; best first. */
export function nearNames(asked: string, names: Iterable<string>, most: number): string[] {
  const wanted = fold(asked);
  const farthest = Math.max(2, wanted.length / 3);
  const scored: { name: string; score: number }[] = [];
  for (const name of names) {
    const score = remoteness(wanted, fold(name), farthest);
    if (score <= farthest) scored.push({ name, score });
  }
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, most)
    .map(({ name }) => name);
}

/** From 0 for the same to 1 where one contains the other; else their distance. */
function remoteness(wanted: string, folded: string, farthest: number): number {
  const [shorter, longer] = folded.length < wanted.length ? [folded, wanted] : [wanted, folded];
  if (shorter.length >= MIN_CONTAINED && longer.includes(shorter)) return 1 - shorter.length / longer.length;
  return longer.length - shorter.length > farthest ? Number.POSITIVE_INFINITY : distance(wanted, folded, farthest);
}

function fold(name: string): string {
  return name.slice(0, 64).toLowerCase().replace(mark(), "");
}

const mark = lazyRegExp("[^\\p{L}\\p{N}]", "gu");

/** Levenshtein distance, row by row. What is farther than `most` is only told to be that. */
function distance(a: string, b: string, most: number): number {
  const row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const unit = a.charCodeAt(i - 1);
    let diagonal = i - 1;
    let left = i;
    let least = i;
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] ?? 0;
      left = Math.min(above + 1, left + 1, diagonal + (unit === b.charCodeAt(j - 1) ? 0 : 1));
      row[j] = left;
      diagonal = above;
      if (left < least) least = left;
    }
    // No row's least is smaller than that of the row above it.
    if (least > most) return least;
  }
  return row[b.length] ?? 0;
}
