import { isFirstHalf } from "./half-character.ts";

/**
 * The mark of a truncation. Whatever truncates a server's text must leave one: a secret may be cut in two there, and the redactor
 * looks for its remains only beside this mark.
 */
export const CUT = "…";

/**
 * Truncates a text to `characters`, plus the mark of the cut. `partial`: the given text was truncated already, so it gets the mark even
 * if it is short enough.
 */
export function cut(text: string, characters: number, partial = false): string {
  if (text.length <= characters && !partial) return text;
  let end = Math.min(characters, text.length);
  // Neither between the halves of a surrogate pair, nor behind U+FFFD, which is what decoding leaves of a truncated character.
  while (end > 0 && isBroken(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end) + CUT;
}

function isBroken(unit: number): boolean {
  return isFirstHalf(unit) || unit === 0xfffd;
}
