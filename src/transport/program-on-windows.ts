import { lstatSync } from "node:fs";
import { batchCommand, isBatchFile } from "./batch-file.ts";
import { findOnWindows, type Search, systemProgram } from "./find-on-windows.ts";
import { firstLine } from "./first-line.ts";
import { NotStarted } from "./not-started.ts";
import type { SpawnOptions } from "./spawned.ts";

/** What all programs begin with, whatever their name. */
const PROGRAM_MARK = "MZ";
const NO_PROGRAM =
  "it is there, but Windows cannot start it; name the program that runs it, with the file as its argument";

/** What Windows can start. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already. */
  readonly verbatim: boolean;
}

/** What is asked of the disk. */
export interface Disk {
  isFile(path: string): boolean;
  /** The first line of a file, where there is one. */
  firstLine(path: string): string | undefined;
}

/**
 * The program behind a server's command, as Windows can start it without a shell of its own: it is found by PATH and PATHEXT
 * alone, a batch file is run by cmd.exe, and a script by the program that its first line names.
 * @throws Error with the code ENOENT, or EINVAL; NotStarted for a file that is no program, nor a script that names one.
 */
export function programOnWindows({ command, args, env, cwd }: SpawnOptions, disk: Disk = DISK): Program {
  const found = find({ command, env, cwd }, disk, "PATH does not lead to it");
  const line = isProgram(found) ? undefined : disk.firstLine(found);
  const [interpreter, ...options] = interpreterIn(line ?? "");
  if (interpreter === undefined) {
    // The system would only say that it does not know the error.
    if (line !== undefined && !line.startsWith(PROGRAM_MARK)) throw new NotStarted(NO_PROGRAM);
    return direct(found, args);
  }
  const missing = `PATH does not lead to ${interpreter}, which its first line names`;
  return direct(find({ command: interpreter, env, cwd }, disk, missing), [...options, found, ...args]);
}

function find(search: Search, disk: Disk, missing: string): string {
  const found = findOnWindows(search, disk.isFile);
  if (found === undefined) throw notFound(missing);
  // Of any other path the system says so itself; for a batch file it starts cmd.exe, which is there.
  if (isBatchFile(found) && !disk.isFile(found)) throw notFound("there is no such file");
  return found;
}

function notFound(reason: string): Error {
  return Object.assign(new Error(reason), { code: "ENOENT" });
}

function direct(file: string, args: readonly string[]): Program {
  if (!isBatchFile(file)) return { file, args, verbatim: false };
  return { file: systemProgram("cmd"), args: batchCommand(file, args), verbatim: true };
}

function isProgram(path: string): boolean {
  return isBatchFile(path) || /\.(exe|com)$/i.test(path);
}

/** `node` of `#!/usr/bin/env node`, with its options; nothing where the line names none. */
function interpreterIn(line: string): readonly string[] {
  const [, path = "", rest = ""] = /^#!\s*(\S+)(.*)/.exec(line) ?? [];
  const name = path.slice(path.lastIndexOf("/") + 1);
  const words = rest.trim().split(/\s+/).filter(Boolean);
  if (name !== "env") return name === "" ? [] : [name, ...words];
  // Without it env takes but one word.
  if (words[0]?.startsWith("-S") !== true) return words.slice(0, 1);
  return [words[0].slice(2), ...words.slice(1)].filter(Boolean);
}

const DISK: Disk = {
  /** Also an alias of the Store, which is a link that only the system can follow. */
  isFile(path) {
    try {
      return !lstatSync(path).isDirectory();
    } catch {
      return false; // PATH may name folders that are gone, or that nobody may look into.
    }
  },
  firstLine(path) {
    try {
      return firstLine(path);
    } catch {
      return undefined; // The start tells what is wrong with it.
    }
  },
};
