import { builtin } from "../builtin.ts";
import { systemProgram } from "./find-on-windows.ts";
import { signalProcess } from "./signal-process.ts";

/** Its process may be suspended, or its program be held up by a scanner. */
const TIMEOUT_MS = 2000;

/** Loaded when a tree is ended: whoever speaks HTTP only never needs it. */
const childProcess = (): typeof import("node:child_process") => builtin("node:child_process");

/** Ends the tree of a process on Windows, where signals cannot. Resolves when that is done, or cannot be done. */
export async function endTreeOnWindows(pid: number): Promise<void> {
  const options = { timeout: TIMEOUT_MS, windowsHide: true };
  const failed = await new Promise<unknown>((resolve) => {
    childProcess().execFile(systemProgram("taskkill"), words([pid]), options, resolve);
  }).catch((error: unknown) => error);
  if (failed !== null) signalProcess(pid, "SIGKILL");
}

/** The same for many at once and synchronously: the host is about to end. */
export function endTreesNowOnWindows(pids: readonly number[]): void {
  const options = { stdio: "ignore", timeout: TIMEOUT_MS, windowsHide: true } as const;
  const { status } = childProcess().spawnSync(systemProgram("taskkill"), words(pids), options);
  // They are gone already; or where taskkill is missing or forbidden, the programs themselves can still be ended.
  if (status !== 0) for (const pid of pids) signalProcess(pid, "SIGKILL");
}

function words(pids: readonly number[]): string[] {
  return ["/T", "/F", ...pids.flatMap((pid) => ["/pid", String(pid)])];
}
