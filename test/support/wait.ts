import { existsSync, readdirSync, readFileSync } from "node:fs";

const POLL_MS = 10;

/** Waits until the condition holds; its last value is the result. Fails at the deadline, naming what was waited for. */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs: number = 10_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() >= deadline) throw new Error(`Waited ${deadlineMs} ms in vain: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Lets nothing else run in this process for so long. */
export function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Whether the process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (!existsSync("/proc/self/stat")) return true;
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** The living children of a process; nothing where the system cannot tell. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" "))
      .filter((word) => word.trim() !== "")
      .map(Number)
      .filter(isAlive);
  } catch {
    return [];
  }
}

/** Microseconds of the machine's monotonic clock, as the ledgers of the fault servers count them. */
export function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
