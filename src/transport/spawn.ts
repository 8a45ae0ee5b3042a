import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { NotStarted, reasonNotStarted } from "./not-started.ts";
import { programOnWindows } from "./program-on-windows.ts";
import type { ExitStatus, SpawnedProcess, SpawnOptions } from "./spawned.ts";

/**
 * Starts a program without a shell. On POSIX it leads a process group of its own, so that the whole tree can be signalled; on
 * Windows it may be a script, and its arguments arrive verbatim.
 * Nothing of it keeps the host process alive.
 * @throws the operating system's error (ENOENT, EACCES, ...) if it cannot be started, or `NotStarted`, which says it better.
 */
export async function spawnProcess(options: SpawnOptions): Promise<SpawnedProcess> {
  const windows = process.platform === "win32";
  const { spawn } = await import("node:child_process");
  const { file, args, verbatim } = windows
    ? programOnWindows(options)
    : { file: options.command, args: options.args, verbatim: false };
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    detached: !windows,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
  if (child.pid === undefined) {
    const [error] = (await once(child, "error")) as [Error];
    const reason = windows ? undefined : reasonNotStarted(options);
    throw reason === undefined ? error : new NotStarted(reason, { cause: error });
  }
  return asSpawned(child);
}

/** A started child as the transport uses it. */
function asSpawned(child: ChildProcess): SpawnedProcess {
  const { pid, stdin, stdout, stderr } = child as ChildProcess & {
    pid: number;
    stdin: Writable;
    stdout: Readable;
    stderr: Readable;
  };
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  // Of a process that has started, an error says only that it could not be signalled: it is gone.
  child.on("error", () => undefined);
  for (const part of [child, stdin, stdout, stderr]) (part as { unref?: () => void }).unref?.();
  return { pid, stdin, stdout, stderr, exited, hasExited: () => child.exitCode !== null || child.signalCode !== null };
}
