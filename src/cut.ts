import { isFirstHalf } from "./half-character.ts";

/**
 * Stands where a text was cut. The redactor masks what is left of a secret beside it, so whatever is cut from a server's text
 * leaves one.
 */
export const CUT = "…";

/**
 * The beginning of a text, at most `characters` long before the mark of the cut. `partial` says that what is given is itself
 * only a beginning.
 */
export function cut(text: string, characters: number, partial = false): string {
  if (text.length <= characters && !partial) return text;
  let end = Math.min(characters, text.length);
  // Not between the halves of a surrogate pair, and without what decoding makes of a character whose bytes were cut.
  while (end > 0 && isBroken(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end) + CUT;
}

function isBroken(unit: number): boolean {
  return isFirstHalf(unit) || unit === 0xfffd;
}
