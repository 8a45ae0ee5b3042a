import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { defined } from "../../defined.ts";
import { AdapterError, isAdapterError, reasonOf } from "../../errors.ts";
import { LIMITS, type Limits } from "../../limits.ts";
import { insisting } from "../../momentary.ts";
import { DRAFT, replaceFile } from "../../replace-file.ts";
import { cancelledBy } from "../context.ts";
import { dataFolder } from "./data-folder.ts";
import { type LockResult, lockFile } from "./file-lock.ts";
import { MemoryStore } from "./memory-store.ts";
import { emptyRecord, isEmpty, type SignInRecord } from "./record.ts";
import type { Change, StoreDescription, TokenStore } from "./token-store.ts";

export interface DiskStoreOptions {
  /** Default: the platform's data folder. */
  readonly folder?: string;
  readonly limits?: Limits;
  /** Told once if nothing can be written: sign-ins then last as long as the process. */
  readonly onWarning?: (message: string) => void;
}

const VERSION = 1;
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Sign-ins in files of mode 0600 in a folder of mode 0700, one file a server address. Files are replaced as a whole, and
 * changed only under a lock that all processes of the machine respect.
 */
export class DiskStore implements TokenStore {
  readonly #folder: string;
  readonly #limits: Limits;
  readonly #warn: (message: string) => void;
  /** What could not be written. */
  readonly #unwritten = new MemoryStore();
  #problem: string | undefined;

  constructor(options: DiskStoreOptions = {}) {
    this.#folder = options.folder ?? dataFolder();
    this.#limits = options.limits ?? LIMITS;
    this.#warn = options.onWarning ?? (() => {});
  }

  async read(url: string): Promise<SignInRecord> {
    if (this.#unwritten.has(url)) return await this.#unwritten.read(url);
    return await readRecord(this.#file(url), url);
  }

  async update<T>(url: string, change: Change<T>, signal: AbortSignal): Promise<T> {
    const lock = await this.#lock(url, signal);
    // Without a lock nothing can be written either: then the memory is enough.
    if (lock === undefined)
      return await this.#unwritten.update(url, async () => await change(await this.read(url)), signal);
    try {
      const { value, record } = await change(await this.read(url));
      if (record !== undefined) await this.#write(record);
      return value;
    } finally {
      await lock.release();
    }
  }

  describe(): StoreDescription {
    return {
      kind: "disk",
      folder: this.#folder,
      ...defined({ problem: this.#problem }),
    };
  }

  /** The name says nothing about the server, and an address of any length fits. */
  #file(url: string): string {
    return join(this.#folder, `sign-in-${createHash("sha256").update(url).digest("hex").slice(0, 32)}.json`);
  }

  async #lock(url: string, signal: AbortSignal): Promise<{ release: () => Promise<void> } | undefined> {
    const path = `${this.#file(url)}.lock`;
    let result: LockResult;
    try {
      await prepareFolder(this.#folder);
      result = await lockFile(path, this.#limits.storeLockMs, signal);
    } catch (error) {
      if (isAdapterError(error)) throw error;
      if (signal.aborted) throw cancelledBy(signal, url);
      this.#keepInMemory(error);
      return undefined;
    }
    if ("release" in result) return result;
    throw new AdapterError("auth.store", { path, reason: `${result.heldBy} holds its lock and does not release it` });
  }

  async #write(record: SignInRecord): Promise<void> {
    const file = this.#file(record.url);
    const text = JSON.stringify({ version: VERSION, ...record }, null, 1);
    // It would be refused when it is read; an authorization server may issue tokens of any length.
    if (Buffer.byteLength(text) > MAX_FILE_BYTES)
      return this.#keepInMemory(`a sign-in has more than ${MAX_FILE_BYTES} bytes`, record);
    try {
      if (isEmpty(record)) await remove(file);
      else await replaceFile(file, text);
      this.#unwritten.put(emptyRecord(record.url));
    } catch (error) {
      this.#keepInMemory(error, record);
    }
  }

  #keepInMemory(error: unknown, record?: SignInRecord): void {
    if (record !== undefined) this.#unwritten.put(record);
    const first = this.#problem === undefined;
    this.#problem = `cannot write to ${this.#folder}: ${reasonOf(error)}`;
    if (first) this.#warn(`Sign-ins are kept in memory only: ${this.#problem}.`);
  }
}

async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A person's own link leads where they want it, as those who keep their settings elsewhere have it.
  refuseForeign(folder, (await lstat(folder)).uid);
  const stats = await stat(folder);
  if (!stats.isDirectory()) throw new AdapterError("auth.store", { path: folder, reason: "it is not a folder" });
  refuseForeign(folder, stats.uid);
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) await chmod(folder, 0o700);
}

/** Tokens that somebody else put there, or can read, are not used. */
function refuseForeign(path: string, uid: number): void {
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw new AdapterError("auth.store", {
      path,
      reason: `it belongs to user ${uid}, not to user ${process.getuid()}`,
    });
  }
}

async function readRecord(file: string, url: string): Promise<SignInRecord> {
  const text = await readPrivate(file);
  if (text === undefined) return emptyRecord(url);
  const record = parseRecord(text);
  if (record === undefined) throw new AdapterError("auth.store", { path: file, reason: "its content is corrupt" });
  return record.url === url ? record : emptyRecord(url);
}

async function readPrivate(file: string): Promise<string | undefined> {
  try {
    const handle = await insisting(() => open(file, "r"));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new AdapterError("auth.store", { path: file, reason: "it is not a file" });
      refuseForeign(file, stats.uid);
      if (stats.size > MAX_FILE_BYTES) throw new AdapterError("auth.store", { path: file, reason: "it is too large" });
      // Best effort: on a read-only file system it stays as it is.
      if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) await handle.chmod(0o600).catch(() => undefined);
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isAdapterError(error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new AdapterError("auth.store", { path: file, reason: reasonOf(error) }, { cause: error });
  }
}

function parseRecord(text: string): SignInRecord | undefined {
  try {
    const { version, ...record } = JSON.parse(text) as SignInRecord & { version: unknown };
    const whole =
      version === VERSION && typeof record.url === "string" && areObjects(record.clients) && areObjects(record.grants);
    return whole && record.grants.every((grant) => typeof grant.accessToken === "string") ? record : undefined;
  } catch {
    return undefined; // Not JSON: corrupt.
  }
}

function areObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null);
}

/** With the drafts that a crash may have left: they hold tokens too. */
async function remove(file: string): Promise<void> {
  const folder = dirname(file);
  const prefix = `${basename(file)}.`;
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith(DRAFT));
  for (const path of [file, ...drafts.map((name) => join(folder, name))]) {
    await insisting(() => unlink(path)).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
