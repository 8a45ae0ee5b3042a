import { spawnSync } from "node:child_process";
import { descendants, isSameProcess, type ProcessMark } from "./descendants.ts";

/**
 * Kills what is left when the host ends without a shutdown. One per process, shared by all copies of this package, so that
 * their signal handlers do not take each other for the host's.
 */
export interface Reaper {
  add(pid: number): void;
  /** Descendants that cannot be found any more once the root is gone. */
  remember(pid: number, family: readonly ProcessMark[]): void;
  remove(pid: number): void;
}

const KEY = Symbol.for("rpi-mcp-adapter.reaper.1");
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

export function reaper(): Reaper {
  const shared = globalThis as { [KEY]?: Reaper };
  shared[KEY] ??= createReaper();
  return shared[KEY];
}

function createReaper(): Reaper {
  const roots = new Map<number, readonly ProcessMark[]>();
  const killAll = (): void => {
    for (const [pid, family] of roots) killTreeNow(pid, family);
    roots.clear();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // A host with a handler of its own decides for itself; it shuts us down, or exits and meets the exit hook.
    if (process.listenerCount(signal) > 1) return;
    killAll();
    uninstall();
    process.kill(process.pid, signal);
  };
  const install = (): void => {
    process.on("exit", killAll);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  };
  const uninstall = (): void => {
    process.off("exit", killAll);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  return {
    add(pid) {
      if (roots.size === 0) install();
      roots.set(pid, []);
    },
    remember(pid, family) {
      if (roots.has(pid)) roots.set(pid, family);
    },
    remove(pid) {
      if (roots.delete(pid) && roots.size === 0) uninstall();
    },
  };
}

/** Synchronously and at once: the process is about to end. */
function killTreeNow(pid: number, remembered: readonly ProcessMark[]): void {
  if (process.platform === "win32") {
    spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", timeout: 2000, windowsHide: true });
    return;
  }
  const family = [...remembered, ...descendants(pid)];
  signalGroup(pid, "SIGKILL");
  for (const mark of family) if (isSameProcess(mark)) signalProcess(mark.pid, "SIGKILL");
}

/** Whether the group still had a member to signal. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(-pid, signal);
}

export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // ESRCH: gone. EPERM on macOS: only zombies are left.
  }
}
