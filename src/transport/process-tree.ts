import { execFile, spawnSync } from "node:child_process";
import { access, constants } from "node:fs/promises";
import type { Limits } from "../limits.ts";
import { descendants, isSameProcess, type ProcessMark } from "./descendants.ts";
import { systemProgram } from "./find-on-windows.ts";
import { reaper, signalGroup, signalProcess } from "./reaper.ts";

/** The root of a process tree: on POSIX the leader of a process group of its own. */
export interface TreeRoot {
  readonly pid: number;
  hasExited(): boolean;
  /** Ends its stdin, which asks a well-behaved server to leave. */
  endInput(): void;
}

const POLL_MS = 10;
/** A tree that is expected to leave is searched for what it has started meanwhile; one part in so many of the time goes into that. */
const LOOK_SHARE = 10;
const KILL_WAIT_MS = 1000;
/** Its process may be suspended, or its program be held up by a scanner. */
const TASKKILL_MS = 2000;

/**
 * Stops a whole tree: end of stdin, SIGTERM, SIGKILL, each after a bounded wait (Lifecycle, Shutdown, stdio).
 * `atOnce` leaves out the first wait. Resolves when nothing of the tree is left, or when nothing more can be done.
 */
export async function stopTree(root: TreeRoot, limits: Limits, atOnce: boolean): Promise<void> {
  const family = new Map<number, ProcessMark>();
  let lookAt = 0;
  const remember = (): void => {
    const begin = performance.now();
    const parents = [...family.values()].filter(isSameProcess).map(({ pid }) => pid);
    if (!root.hasExited()) parents.push(root.pid);
    for (const parent of parents) for (const mark of descendants(parent)) family.set(mark.pid, mark);
    reaper().remember(root.pid, [...family.values()]);
    const end = performance.now();
    lookAt = end + (LOOK_SHARE - 1) * (end - begin);
  };
  const gone = (): boolean => {
    // A parent may leave as soon as it has started something in a session of its own, which nobody could find any more.
    if (performance.now() >= lookAt) remember();
    if (!root.hasExited() || (process.platform !== "win32" && signalGroup(root.pid, 0))) return false;
    for (const mark of family.values()) {
      if (isSameProcess(mark)) return false;
      family.delete(mark.pid);
    }
    return true;
  };

  remember();
  root.endInput();
  if (!atOnce && (await until(gone, limits.stdinEndMs))) return;
  remember();
  await signalTree(root, family, "SIGTERM");
  if (await until(gone, limits.terminateMs)) return;
  remember();
  await signalTree(root, family, "SIGKILL");
  await until(gone, KILL_WAIT_MS);
}

/** Ends a whole tree synchronously: the host is about to end. */
export function killTreeOnWindows(pid: number): void {
  const options = { stdio: "ignore", timeout: TASKKILL_MS, windowsHide: true } as const;
  const { status } = spawnSync(systemProgram("taskkill"), taskkill(pid), options);
  if (status !== 0) signalProcess(pid, "SIGKILL");
}

async function signalTree(
  root: TreeRoot,
  family: ReadonlyMap<number, ProcessMark>,
  signal: "SIGTERM" | "SIGKILL",
): Promise<void> {
  if (!root.hasExited() && (await treeKillHelps())) await treeKill(root.pid, signal);
  if (process.platform === "win32") return;
  signalGroup(root.pid, signal);
  for (const mark of family.values()) if (isSameProcess(mark)) signalProcess(mark.pid, signal);
}

/** On Linux the tree is known from /proc; tree-kill would need `ps` there, and crashes its process where that is missing. */
async function treeKillHelps(): Promise<boolean> {
  if (process.platform === "linux") return false;
  if (process.platform === "win32") return true;
  try {
    await access("/bin/ps", constants.X_OK);
    return true;
  } catch {
    return false; // No `ps`: the process group is all that can be reached.
  }
}

async function treeKill(pid: number, signal: string): Promise<void> {
  if (process.platform === "win32") {
    const options = { timeout: TASKKILL_MS, windowsHide: true };
    const failed = await new Promise<unknown>((resolve) => {
      execFile(systemProgram("taskkill"), taskkill(pid), options, resolve);
    }).catch((error: unknown) => error);
    // Where it is missing or forbidden, the program itself can still be ended.
    if (failed !== null) signalProcess(pid, "SIGKILL");
    return;
  }
  // An error says that the tree is gone already, or that the tool failed: the wait that follows finds out which.
  const { default: kill } = await import("tree-kill");
  await new Promise<void>((resolve) => kill(pid, signal, () => resolve()));
}

function taskkill(pid: number): string[] {
  return ["/pid", String(pid), "/T", "/F"];
}

async function until(condition: () => boolean, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (!condition()) {
    if (performance.now() >= deadline) return false;
    await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
