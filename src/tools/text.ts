import { CUT } from "../cut.ts";
import { withoutHalfCharacter } from "../half-character.ts";

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
