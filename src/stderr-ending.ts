import { CUT, cut } from "./cut.ts";

/** Of the 8 KiB that are kept: the model pays for every character, and the details have the rest. */
const SHOWN_CHARACTERS = 2000;
const REASON_CHARACTERS = 300;
const QUOTED_SOURCE_CHARACTERS = 200;
/** A line of a stack trace of Node, Java or .NET. */
const FRAME =
  /^[ \t]+at (?:[\w./@$<>[\]`+,]+\([^()\n]*\)|[^\n]*(?::\d+\)?|:line \d+|\((?:<anonymous>|index \d+)\)))(?: \{)?(?:\n|$)/gm;
/** Go writes two lines for each. */
const GO_FRAME = /^\S[^\n]*\n\t[^\n]*\.go:\d+(?: \+0x[0-9a-f]+)?(?:\n|$)/gm;
/** A line of source above a caret, as Node writes it before an error: of a bundle that is all of it, and the caret far away. */
const QUOTED_SOURCE = /^(?:[^\n]*\n)?(?:[ \t]*\^+|[ \t]{99,})\n/gm;
/** A word that begins what went wrong, not one within a sentence such as "log to the standard error stream". */
const NAMES_A_FAILURE =
  /^\W*(?:error|fatal|panic|failed|cannot|could not)\b|(?<!\w)\w*(?:error|exception|fatal|panic)["\]]?:|panicked at/i;

/** The part of a failed server's stderr that an error quotes: its end, without stack traces, preceded by the line that names the failure. */
export function stderrEnding(stderr: string): string {
  const text = stderr
    .replace(QUOTED_SOURCE, (source) => (source.length > QUOTED_SOURCE_CHARACTERS ? "" : source))
    .replace(FRAME, "")
    .replace(GO_FRAME, "")
    .trim();
  const newest = endOf(text, SHOWN_CHARACTERS);
  const namesFailure = (line: string): boolean => NAMES_A_FAILURE.test(line);
  if (newest.length === text.length || newest.split("\n").some(namesFailure)) return newest;
  const reason = text
    .slice(0, text.length - SHOWN_CHARACTERS)
    .split("\n")
    .findLast(namesFailure);
  if (reason === undefined) return newest;
  const shown = cut(reason.trim(), REASON_CHARACTERS);
  return `${shown}\n${endOf(text, SHOWN_CHARACTERS - shown.length)}`;
}

/** Not cut at a line break: the last line may be nearly all there is. */
function endOf(text: string, characters: number): string {
  return text.length <= characters ? text : CUT + text.slice(-characters).replace(/^[\udc00-\udfff]/, "");
}
