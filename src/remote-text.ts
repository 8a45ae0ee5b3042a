import { cut } from "./cut.ts";
import { lazyRegExp } from "./lazy-regexp.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about.
const ESCAPE_SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-Z\\-z])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

const LINE_ENDS = /[\r\v\f\u0085]/g;
const invisible = lazyRegExp("\\p{Cf}", "gu");

/** Remote text without what a terminal would interpret, and without halves of characters; line ends and tabs stay. */
export function readable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(ESCAPE_SEQUENCES, "").replace(CONTROLS, "").toWellFormed();
}

/**
 * Remote text as one line within a sentence: no control or formatting characters, blanks squeezed, at most `characters` long
 * before the mark of a cut. `partial` says that what is given is itself only a beginning.
 */
export function quoteText(text: string, characters: number, partial = false): string {
  // Direction marks and other invisible characters could make the quotation read as something else.
  const line = readable(text.replace(LINE_ENDS, " ")).replace(invisible(), "").replace(/\s+/g, " ").trim();
  return line === "" ? "" : cut(line, characters, partial);
}

/** As `quoteText`, for a text that a person is asked to approve: a truncated one says how long the whole is. */
export function quoteOpenly(text: string, characters: number): string {
  const line = quoteText(text, characters);
  return text.length > characters ? `${line} (${text.length} characters in all)` : line;
}
