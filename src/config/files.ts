import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { AdapterError, isAdapterError, reasonOf } from "../errors.ts";
import { keepNewest } from "../keep-newest.ts";
import { realPath } from "../real-path.ts";
import { decode } from "./decode.ts";

/** The file system as the config loader uses it; tests replace it to count accesses. */
export interface FileSystem {
  /** Follows links; nothing where there is no file. @throws the system's error otherwise. */
  stat(path: string): Stats | undefined;
  /** Reads a regular file up to one byte beyond `maxBytes`. @throws AdapterError `config.unreadable`, or the system's error. */
  read(path: string, maxBytes: number): FileBytes;
}

export interface FileBytes {
  readonly stats: Stats;
  readonly bytes: Buffer;
  /** Absolute, without links. */
  readonly realPath: string;
}

/** One config file as it was last read. */
export interface ConfigFile {
  /** Absolute, without links where the file could be read. */
  readonly path: string;
  /** Whether every user of the machine may change it. */
  readonly worldWritable: boolean;
  readonly value?: unknown;
  /** Why there is no `value`. */
  readonly error?: AdapterError;
}

/** What one `read` found. */
export interface Reading {
  /** Nothing: there is no file. */
  readonly file: ConfigFile | undefined;
  /** Equal for readings of the same content. */
  readonly version: number;
}

/** Files by path, with the version of each that was read. */
export type Tracked = ReadonlyMap<string, number>;

export interface Format {
  readonly maxBytes: number;
  /** @throws AdapterError `config.syntax` */
  parse(text: string, configPath: string): Promise<unknown>;
}

interface State extends Reading {
  readonly seen: Seen;
  /** Kept only while an edit could hide behind the same time stamp. */
  bytes: Buffer | undefined;
  readonly maxBytes: number;
}

/** What `stat` gave: the stats, the code of its error, or undefined for a missing file. */
type Seen = Stats | string | undefined;

/** Time stamps of FAT count two seconds; an edit within them may leave the stamp as it was. */
const STAMP_MS = 2000;
/** The same where stamps are finer: the system's clock ticks at least a hundred times a second. */
const FINE_STAMP_MS = 100;
const REMEMBERED_FILES = 1024;
const WRITABLE_BY_OTHERS = 0o002;
const MISSING = new Set(["ENOENT", "ENOTDIR"]);

/** Config files by path, each parsed again only when it has changed. */
export class Files {
  readonly #states = new Map<string, State>();
  readonly #system: FileSystem;
  readonly #platform: NodeJS.Platform;
  #versions = 0;

  constructor(system: FileSystem = DISK, platform: NodeJS.Platform = process.platform) {
    this.#system = system;
    this.#platform = platform;
  }

  /**
   * The version of the latest reading if it still holds, else nothing. Costs one `stat`; a file that is young is also
   * compared by its bytes.
   */
  version(path: string): number | undefined {
    const state = this.#states.get(path);
    if (state === undefined || !same(state.seen, this.#stat(path))) return undefined;
    return state.bytes === undefined || this.#sameBytes(path, state, state.bytes) ? state.version : undefined;
  }

  /** The file as it is now. A file that cannot be read or parsed is told by its `error`. */
  async read(path: string, format: Format): Promise<Reading> {
    const known = this.#states.get(path);
    if (known !== undefined && this.version(path) === known.version) return known;
    const state = await this.#load(path, format);
    keepNewest(this.#states, path, state, REMEMBERED_FILES);
    return state;
  }

  #stat(path: string): Seen {
    try {
      return this.#system.stat(path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "EUNKNOWN";
      return MISSING.has(code) ? undefined : code;
    }
  }

  async #load(path: string, format: Format): Promise<State> {
    const base = { maxBytes: format.maxBytes, version: ++this.#versions, bytes: undefined };
    const before = this.#stat(path);
    if (before === undefined) return { ...base, seen: undefined, file: undefined };
    let opened: FileBytes;
    try {
      opened = this.#system.read(path, format.maxBytes);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "EUNKNOWN";
      if (MISSING.has(code)) return { ...base, seen: undefined, file: undefined };
      // A system error may be temporary (too many open files, another program's lock) without a change of the stats: it is retried.
      const seen = isAdapterError(error) ? before : code;
      return { ...base, seen, file: broken(path, false, unreadable(path, error)) };
    }
    const { stats, bytes, realPath } = opened;
    const worldWritable = this.#platform !== "win32" && (stats.mode & WRITABLE_BY_OTHERS) !== 0;
    const file = await parsed(opened, worldWritable, format).catch((error: unknown) => {
      if (isAdapterError(error)) return broken(realPath, worldWritable, error);
      throw error;
    });
    return { ...base, seen: stats, file, bytes: young(stats) ? bytes : undefined };
  }

  #sameBytes(path: string, state: State, bytes: Buffer): boolean {
    try {
      const now = this.#system.read(path, state.maxBytes);
      if (!now.bytes.equals(bytes)) return false;
      if (!young(now.stats)) state.bytes = undefined;
      return true;
    } catch {
      return false; // It is read anew, which tells what is wrong.
    }
  }
}

async function parsed({ bytes, realPath }: FileBytes, worldWritable: boolean, format: Format): Promise<ConfigFile> {
  const text = decode(bytes, realPath, format.maxBytes);
  return { path: realPath, worldWritable, value: await format.parse(text, realPath) };
}

function broken(path: string, worldWritable: boolean, error: AdapterError): ConfigFile {
  return { path, worldWritable, error };
}

function same(a: Seen, b: Seen): boolean {
  if (typeof a !== "object" || typeof b !== "object") return a === b;
  return (
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.mode === b.mode
  );
}

function young({ mtimeMs, ctimeMs }: Stats): boolean {
  const newest = Math.max(mtimeMs, ctimeMs);
  // A stamp within a second shows that this file system counts finer than in seconds.
  const unit = newest % 1000 === 0 ? STAMP_MS : FINE_STAMP_MS;
  return Math.abs(Date.now() - newest) < unit;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ELOOP: "its links form a loop",
};

function unreadable(configPath: string, error: unknown): AdapterError {
  if (isAdapterError(error)) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return new AdapterError("config.unreadable", { configPath, reason: REASONS[code] ?? reasonOf(error) });
}

const DISK: FileSystem = {
  stat(path) {
    return statSync(path, { throwIfNoEntry: false });
  },
  read(path, maxBytes) {
    // A named pipe without a writer would block the host for ever; O_NONBLOCK is absent on Windows.
    const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) {
        const reason = stats.isDirectory() ? "it is a folder" : "it is not a regular file";
        throw new AdapterError("config.unreadable", { configPath: path, reason });
      }
      return { stats, bytes: readAll(descriptor, stats.size, maxBytes), realPath: realPath(path) };
    } finally {
      closeSync(descriptor);
    }
  },
};

function readAll(descriptor: number, size: number, maxBytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(size, maxBytes) + 1);
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}
