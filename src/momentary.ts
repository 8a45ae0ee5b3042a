import { setTimeout as sleep } from "node:timers/promises";

const ATTEMPTS = 6;
const PAUSE_MS = 20;

/**
 * Whether a file system error of Windows is transient: it refuses access while a file is being deleted, held open by another program, or
 * scanned for viruses.
 */
export function isMomentary(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return process.platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(code);
}

/** Retries file system work on transient errors, for at most 300 ms. @throws what the work throws. */
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
