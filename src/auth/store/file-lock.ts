import { randomUUID } from "node:crypto";
import { open, readFile, stat, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../../clock.ts";
import { insisting, isMomentary } from "../../momentary.ts";

/** A holder works at most a minute; a lock this old was left behind, whoever its process is. */
const ABANDONED_MS = 120_000;
/** A lock without an owner is being written, or its writer died in between. */
const UNSIGNED_MS = 5_000;
const POLL_MS = 40;

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly id: string;
}

/** `release` never rejects. */
export type LockResult = { readonly release: () => Promise<void> } | { readonly heldBy: string };

/**
 * Takes the lock file, waiting at most `waitMs` for others. A lock of a dead process is broken.
 * @throws the file system's error where lock files cannot be made; the signal's abort.
 */
export async function lockFile(path: string, waitMs: number, signal: AbortSignal): Promise<LockResult> {
  const owner: Owner = { pid: process.pid, host: hostname(), id: randomUUID() };
  const content = JSON.stringify(owner);
  // A monotonic clock: the wall clock may jump while we wait.
  const deadline = clock.now() + waitMs;
  for (let refusals = 0; ; ) {
    const created = await create(path, content).catch((error: unknown) => {
      refusals += 1;
      if (!isMomentary(error) || refusals > 10) throw error;
      return false;
    });
    if (created) return { release: () => release(path, content) };
    const found = await inspect(path);
    if (found === "gone") {
      if (refusals === 0) continue;
    } else if (found.abandoned && (await breakLock(path))) {
      continue;
    } else if (clock.now() >= deadline) {
      return { heldBy: found.holder };
    }
    await sleep(POLL_MS / 2 + Math.random() * POLL_MS, undefined, { signal });
  }
}

async function create(path: string, content: string): Promise<boolean> {
  try {
    const handle = await open(path, "wx", 0o600);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function inspect(path: string): Promise<"gone" | { abandoned: boolean; holder: string }> {
  try {
    const [content, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    // Either way round: after a jump of the clock a lock may seem to come from the future.
    const age = Math.abs(Date.now() - mtimeMs);
    const owner = parseOwner(content);
    if (owner === undefined) return { abandoned: age > UNSIGNED_MS, holder: "another process" };
    const dead = owner.host === hostname() && !isAlive(owner.pid);
    return { abandoned: dead || age > ABANDONED_MS, holder: `process ${owner.pid} on ${owner.host}` };
  } catch (error) {
    if (isCode(error, "ENOENT")) return "gone";
    if (!isMomentary(error)) throw error;
    return { abandoned: false, holder: "another process" };
  }
}

/**
 * Removes an abandoned lock; whether that one is gone. One breaks at a time, and looks once more before it does: of several who found
 * it abandoned, the later ones would remove the lock that the first has taken since.
 */
async function breakLock(path: string): Promise<boolean> {
  const breaking = `${path}.breaking`;
  if (!(await insisting(() => create(breaking, "")))) {
    // Whoever breaks is soon done, or died over it.
    if (await isAbandoned(breaking)) await unlink(breaking).catch(nothing);
    return false;
  }
  try {
    if (await isAbandoned(path)) await insisting(() => unlink(path));
    return true;
  } catch (error) {
    if (isCode(error, "EPERM", "EACCES", "EBUSY")) return false;
    if (isCode(error, "ENOENT")) return true;
    throw error;
  } finally {
    await insisting(() => unlink(breaking)).catch(nothing); // It is removed as abandoned then.
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await inspect(path);
  return found !== "gone" && found.abandoned;
}

function nothing(): void {}

async function release(path: string, content: string): Promise<void> {
  try {
    if ((await insisting(() => readFile(path, "utf8"))) === content) await insisting(() => unlink(path));
  } catch {
    // It is gone, or stays until it counts as abandoned: what was done under it is done.
  }
}

function parseOwner(content: string): Owner | undefined {
  try {
    const { pid, host, id } = JSON.parse(content) as Partial<Owner>;
    return typeof pid === "number" && typeof host === "string" && typeof id === "string"
      ? { pid, host, id }
      : undefined;
  } catch {
    return undefined; // Half written.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isCode(error, "ESRCH"); // EPERM: it lives and belongs to somebody else.
  }
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException)?.code ?? "");
}
