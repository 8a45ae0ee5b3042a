import type { Readable, Writable } from "node:stream";
import { execa } from "execa";

/** A started process with its three pipes. */
export interface SpawnedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly hasExited: () => boolean;
  /** Resolves with the end of the process itself; its pipes may still hold data, or be held open by its children. */
  readonly exited: Promise<ExitStatus>;
}

export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/**
 * Starts a program without a shell; on Windows, scripts are found by PATHEXT and their arguments arrive verbatim. On POSIX
 * it leads a process group of its own, so that the whole tree can be signalled.
 * Nothing of it keeps the host process alive.
 * @throws the operating system's error (ENOENT, EACCES, ...) if it cannot be started.
 */
export async function spawnProcess({ command, args, env, cwd }: SpawnOptions): Promise<SpawnedProcess> {
  const child = execa(command, args, {
    cwd,
    env,
    extendEnv: false,
    detached: process.platform !== "win32",
    // It is skipped for detached processes anyway; the exit hook over all live groups is ours.
    cleanup: false,
    buffer: false,
    reject: false,
    windowsHide: true,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    encoding: "buffer",
  });
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  if (child.pid === undefined) {
    const result = await child;
    throw result.cause ?? result;
  }
  // Its own promise also waits for the pipes; nobody needs that, and with `reject: false` it does not reject.
  void child.catch(() => undefined);
  for (const part of [child, child.stdin, child.stdout, child.stderr]) (part as { unref?: () => void }).unref?.();
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    exited,
  };
}
