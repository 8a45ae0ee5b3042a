import { type ChildProcess, spawnSync } from "node:child_process";
import { lstatSync } from "node:fs";
import { execa } from "execa";
import { findOnWindows, systemProgram } from "./find-on-windows.ts";
import type { SpawnOptions } from "./spawned.ts";

/**
 * Starts a program as Windows wants it: it is found by PATH and PATHEXT alone, and `.cmd` and `.bat` are run through cmd.exe
 * with every argument escaped, so that it arrives verbatim; programs are started without a shell. Only here is execa worth the
 * 36 ms that it takes to load.
 * @throws the operating system's error if it cannot be started.
 */
export async function spawnOnWindows({ command, args, env, cwd }: SpawnOptions): Promise<ChildProcess> {
  const program = findOnWindows(command, env, isFile);
  if (program === undefined) throw Object.assign(new Error("PATH does not lead to it"), { code: "ENOENT" });
  const child = execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    // The exit hook over all live servers is ours.
    cleanup: false,
    buffer: false,
    // Its own promise, which also waits for the pipes, is nobody's: it must not reject.
    reject: false,
    windowsHide: true,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    encoding: "buffer",
  });
  if (child.pid === undefined) {
    const result = await child;
    throw result.cause ?? result;
  }
  return child as unknown as ChildProcess;
}

/** Ends a whole tree synchronously: the host is about to end. */
export function killTreeOnWindows(pid: number): void {
  spawnSync(systemProgram("taskkill"), ["/pid", String(pid), "/T", "/F"], {
    stdio: "ignore",
    timeout: 2000,
    windowsHide: true,
  });
}

/** Also an alias of the Store, which is a link that only the system can follow. */
function isFile(path: string): boolean {
  try {
    return !lstatSync(path).isDirectory();
  } catch {
    return false; // PATH may name folders that are gone, or that nobody may look into.
  }
}
