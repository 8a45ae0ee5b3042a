import { lazyRegExp } from "./lazy-regexp.ts";

/** Invisible characters, and blanks that look like a space: with them, another program's name could pass for one that a person knows. */
const unseen = lazyRegExp(String.raw`[\p{C}\p{DI}\u2800]|(?! )\p{Z}`, "gu");
const LOST_BLANKS = / (?=[ "])|(?<=^") /g;

/** A command for display to a person: words with blanks or special characters are quoted, and invisible characters are escaped. */
export function commandLine(command: string, args: readonly string[] = []): string {
  return [command, ...args].map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : inQuotes(word))).join(" ");
}

function inQuotes(word: string): string {
  return openJson(word).replace(LOST_BLANKS, escaped);
}

/** The JSON of a value that a person is asked to approve, with invisible characters written as escapes. */
export function openJson(value: unknown): string {
  return JSON.stringify(value).replace(unseen(), escaped);
}

function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/**
 * A command that a person can paste into a shell, quoted so that the shell expands nothing: its words may come from an untrusted
 * source. On Windows the quoting works in cmd and PowerShell alike.
 */
export function shellLine(words: readonly string[], platform: NodeJS.Platform = process.platform): string {
  const plain = platform === "win32" ? /^(?!@)[\w@%+=:./-]+$/ : /^[\w@%+=:,./-]+$/;
  return words.map((word) => (plain.test(word) ? word : quoted(word, platform))).join(" ");
}

function quoted(word: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return `"${word.replace(/[`$]/g, "`$&")}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
