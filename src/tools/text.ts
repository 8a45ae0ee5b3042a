import { CUT } from "../cut.ts";
import { withoutHalfCharacter } from "../half-character.ts";

const LOOKED_AT_CHARACTERS = 2000;
// Chinese and Japanese marks by number: one literal beyond Latin-1 would have V8 keep the whole bundle at two bytes a character.
// Without the flags for case and for Unicode, with which V8 takes milliseconds to compile it.
const SENTENCE_END =
  /(?<!\b(?:[Ee]\.[Gg]|[Ii]\.[Ee]|[Vv][Ss])|(?:^|\n)[^\S\n]{0,20}\d{1,2})[.!?\u3002\uff01\uff1f](?=\s|$)|(?=\n[^\S\n]*\n)|(?=\n[^\S\n]*[^\s:][^\n:]{0,40}:[^\S\n]*(?:\n|$))(?<=[^\s:][^\n]{10,}[^\s:])/;
/** What many descriptions begin with: a heading of that kind, and the number or the mark of the first item beneath it. */
const LEAD =
  /^\s*(?:[^\w\n]{0,8}(?:[Pp]urpose|PURPOSE|[Dd]escription|DESCRIPTION|[Ss]ummary|[Oo]verview|[Aa]bout|[Gg]uardrails)(?:[^\w\n]{0,8}\n\s*|[*_]{0,2}:[*_]{0,2}[^\S\n]+))?(?:(?:[-*\u2022]|\d{1,2}[.)])\s+)?/;

/**
 * Where the first sentence of a text is, beyond what is above it. It ends behind its mark, or with its paragraph, since a heading
 * often has no full stop, or before the heading of what follows ("Args:").
 */
export function firstSentenceIn(text: string): { readonly start: number; readonly end: number } {
  const start = LEAD.exec(text)?.[0].length ?? 0;
  const end = SENTENCE_END.exec(text.slice(start));
  return { start, end: end === null ? text.length : start + end.index + end[0].length };
}

/** The first sentence of a text, on one line, at most `max` characters; a longer one is cut between words. */
export function firstSentence(text: unknown, max: number): string {
  if (typeof text !== "string") return "";
  const beginning = text.slice(0, LOOKED_AT_CHARACTERS).trim();
  const { start, end } = firstSentenceIn(beginning);
  const sentence = beginning.slice(start, end).replace(/\s+/g, " ").trim();
  if (sentence.length <= max) return sentence;
  const space = sentence.slice(0, max).lastIndexOf(" ");
  return `${withoutHalfCharacter(sentence.slice(0, space > max / 2 ? space : max - 1))}${CUT}`;
}

/** The longest start of a text that has at most `bytes` bytes in UTF-8. */
export function headOf(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const all = Buffer.from(text.slice(0, bytes));
  let end = Math.min(bytes, all.length);
  while (isWithin(all[end])) end--;
  return all.toString("utf8", 0, end);
}

/** The longest end of a text that has at most `bytes` bytes in UTF-8. */
export function tailOf(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const all = Buffer.from(text.slice(Math.max(0, text.length - bytes)));
  let start = Math.max(0, all.length - bytes);
  while (isWithin(all[start])) start++;
  return all.toString("utf8", start);
}

/** Whether a byte of UTF-8 goes on with a character. */
function isWithin(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
