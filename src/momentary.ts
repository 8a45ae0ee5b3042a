import { setTimeout as sleep } from "node:timers/promises";

const ATTEMPTS = 6;
const PAUSE_MS = 20;

/**
 * Whether Windows may soon allow what it refuses now: it refuses while a file is being deleted, read by another program, or
 * scanned for viruses.
 */
export function isMomentary(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return process.platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(code);
}

/** Does the work again while it is refused for a moment, for at most 300 ms. @throws what the work throws. */
export async function insisting<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isMomentary(error)) throw error;
      await sleep(PAUSE_MS * attempt);
    }
  }
}
