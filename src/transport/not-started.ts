import { statSync } from "node:fs";
import { resolve } from "node:path";
import { firstLine } from "./first-line.ts";

/** The program's file exists but could not be started; the message says why. */
export class NotStarted extends Error {}

/**
 * Why a program whose file exists cannot be started, if that can be told: for a script with a missing interpreter the system reports
 * ENOENT, as if the script itself were missing.
 */
export function reasonNotStarted({
  command,
  cwd,
}: {
  readonly command: string;
  readonly cwd: string;
}): string | undefined {
  if (!command.includes("/")) return undefined; // Found by PATH, or not.
  const path = resolve(cwd, command);
  try {
    const found = statSync(path);
    // A pipe would be waited for when it is opened.
    if (!found.isFile()) return `it is ${found.isDirectory() ? "a folder" : "not a regular file"}`;
    if ((found.mode & 0o111) === 0) return "it is there, but not executable; run chmod +x on it";
    return withInterpreter(firstLine(path));
  } catch {
    return undefined; // It is not there, or may not be looked at.
  }
}

function withInterpreter(line: string): string | undefined {
  const interpreter = /^#!\s*([^\s]+)/.exec(line)?.[1];
  if (interpreter === undefined) return undefined;
  if (line.endsWith("\r"))
    return "it is there, but its first line ends in a carriage return; save it with Unix line endings";
  if (statSync(interpreter, { throwIfNoEntry: false }) !== undefined) return undefined;
  return `it is there, but ${interpreter}, which its first line says to run it with, is not; reinstall it`;
}
