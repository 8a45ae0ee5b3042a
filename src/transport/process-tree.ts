import { access, constants } from "node:fs/promises";
import type { Limits } from "../limits.ts";
import { descendants, isSameProcess, type ProcessMark } from "./descendants.ts";
import { reaper, signalGroup, signalProcess } from "./reaper.ts";

/** The root of a process tree: on POSIX the leader of a process group of its own. */
export interface TreeRoot {
  readonly pid: number;
  hasExited(): boolean;
  /** Ends its stdin, which asks a well-behaved server to leave. */
  endInput(): void;
}

const POLL_MS = 10;
const KILL_WAIT_MS = 1000;
/** How long a tree that was told to leave is looked at again and again. */
const LOOK_MS = 500;
/** One part in so many of that time is spent looking. */
const LOOK_SHARE = 10;

/**
 * Stops a whole tree: end of stdin, SIGTERM, SIGKILL, each after a bounded wait (Lifecycle, Shutdown, stdio).
 * `atOnce` leaves out the first wait. Resolves when nothing of the tree is left, or when nothing more can be done.
 */
export async function stopTree(root: TreeRoot, limits: Limits, atOnce: boolean): Promise<void> {
  const family = new Map<number, ProcessMark>();
  const remember = (): void => {
    for (const mark of descendants(root.pid)) family.set(mark.pid, mark);
    reaper().remember(root.pid, [...family.values()]);
  };
  const gone = (): boolean => {
    if (!root.hasExited() || (process.platform !== "win32" && signalGroup(root.pid, 0))) return false;
    for (const mark of family.values()) {
      if (isSameProcess(mark)) return false;
      family.delete(mark.pid);
    }
    return true;
  };

  remember();
  root.endInput();
  const lookUntil = performance.now() + LOOK_MS;
  let lookAt = 0;
  const left = (): boolean => {
    const now = performance.now();
    // One that was still starting may start helpers now; once it is gone, those in sessions of their own are found no more.
    if (now >= lookAt && now < lookUntil) {
      remember();
      // A large tree takes its time to be looked at; the host has other things to do as well.
      lookAt = now + LOOK_SHARE * (performance.now() - now);
    }
    return gone();
  };
  if (!atOnce && (await until(left, limits.stdinEndMs))) return;
  remember();
  await signalTree(root, family, "SIGTERM");
  if (await until(gone, limits.terminateMs)) return;
  remember();
  await signalTree(root, family, "SIGKILL");
  await until(gone, KILL_WAIT_MS);
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
  const { default: kill } = await import("tree-kill");
  // Its error says that the tree is gone already, or that the tool failed: the wait that follows finds out which.
  await new Promise<void>((resolve) => kill(pid, signal, () => resolve()));
}

async function until(condition: () => boolean, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (!condition()) {
    if (performance.now() >= deadline) return false;
    await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
