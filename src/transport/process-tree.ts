import { setTimeout } from "node:timers";
import { clock } from "../clock.ts";
import type { Limits } from "../limits.ts";
import { descendants, isSameProcess, type Processes, type ProcessMark } from "./descendants.ts";
import { PROCESSES } from "./processes.ts";
import { reaper } from "./reaper.ts";
import { signalGroup, signalProcess } from "./signal-process.ts";
import { endTreeOnWindows } from "./taskkill.ts";

/** The root of a process tree: on POSIX the leader of a process group of its own. */
export interface TreeRoot {
  readonly pid: number;
  hasExited(): boolean;
  /** Ends its stdin, which asks a well-behaved server to leave. */
  endInput(): void;
}

const POLL_MS = 10;
/** While a tree is expected to end it is scanned repeatedly; the scans take at most one tenth of the time. */
const LOOK_SHARE = 10;
const KILL_WAIT_MS = 1000;

/**
 * Stops a whole tree: end of stdin, SIGTERM, SIGKILL, each after a bounded wait (Lifecycle, Shutdown, stdio).
 * `atOnce` leaves out the first wait. Resolves when nothing of the tree is left, or when nothing more can be done.
 */
export async function stopTree(
  root: TreeRoot,
  limits: Limits,
  atOnce: boolean,
  processes: Processes = PROCESSES,
): Promise<void> {
  const family = new Map<number, ProcessMark>();
  let hasGroup = process.platform !== "win32";
  let lookAt = 0;
  const look = (): void => {
    const begin = clock.now();
    const parents = [...family.values()].filter((mark) => isSameProcess(mark, processes)).map(({ pid }) => pid);
    if (!root.hasExited()) parents.push(root.pid);
    for (const parent of parents) for (const mark of descendants(parent, processes)) family.set(mark.pid, mark);
    reaper().remember(root.pid, [...family.values()]);
    if (parents.length === 0 && hasGroup && signalGroup(root.pid, 0) && processes.hasOnlyZombies(root.pid)) {
      // What one of them started while all processes were being looked at.
      signalGroup(root.pid, "SIGKILL");
      hasGroup = false;
    }
    const end = clock.now();
    lookAt = end + (LOOK_SHARE - 1) * (end - begin);
  };
  const gone = (): boolean => {
    // A parent may leave as soon as it has started something in a session of its own, which nobody could find any more.
    if (clock.now() >= lookAt) look();
    if (!root.hasExited() || (hasGroup && signalGroup(root.pid, 0))) return false;
    for (const mark of family.values()) {
      if (isSameProcess(mark, processes)) return false;
      family.delete(mark.pid);
    }
    return true;
  };

  look();
  root.endInput();
  if (!atOnce && (await until(gone, limits.stdinEndMs))) return;
  const signal = async (name: "SIGTERM" | "SIGKILL"): Promise<void> => {
    look();
    if (process.platform === "win32") {
      if (!root.hasExited()) await endTreeOnWindows(root.pid);
      return;
    }
    signalGroup(root.pid, name);
    for (const mark of family.values()) if (isSameProcess(mark, processes)) signalProcess(mark.pid, name);
  };
  await signal("SIGTERM");
  if (await until(gone, limits.terminateMs)) return;
  await signal("SIGKILL");
  await until(gone, KILL_WAIT_MS);
}

async function until(condition: () => boolean, milliseconds: number): Promise<boolean> {
  const deadline = clock.now() + milliseconds;
  while (!condition()) {
    if (clock.now() >= deadline) return false;
    await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}
