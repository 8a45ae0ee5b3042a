import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { builtin } from "../builtin.ts";
import { AdapterError } from "../errors.ts";
import { withoutHalfCharacter } from "../half-character.ts";

const PIECE_CHARACTERS = 2_097_152;
/** With retries, for Windows: a virus scanner may hold a file for a moment. */
const REMOVE = { recursive: true, force: true, maxRetries: 3 } as const;

/** Keeps texts that are too long for the model in private temporary files until the session ends. */
export class Spill {
  readonly #parent: string | undefined;
  #path: string | undefined;
  #count = 0;
  #isCleared = false;
  readonly #writing = new Set<Promise<string>>();

  /** The private folder is made in `parent`, or in that of the system for temporary files. */
  constructor(parent?: string) {
    this.#parent = parent;
  }

  /** Writes the text (mode 0600, in a folder of mode 0700) and gives the file's path. @throws AdapterError after `clear`, or the system's error. */
  async write(text: string, extension: "txt" | "json"): Promise<string> {
    if (this.#isCleared) throw new AdapterError("shutdown", {});
    const writing = this.#write(text, extension);
    this.#writing.add(writing);
    try {
      return await writing;
    } finally {
      this.#writing.delete(writing);
    }
  }

  /** Removes every file, those still being written included; none is made afterwards. Never rejects. */
  async clear(): Promise<void> {
    this.#isCleared = true;
    await Promise.allSettled(this.#writing);
    // What cannot be removed is left to the system's own cleaning of its temporary folder.
    if (this.#path !== undefined) await rm(this.#path, REMOVE).catch(() => undefined);
    this.#forgetFolder();
  }

  async #write(text: string, extension: string): Promise<string> {
    const path = join(this.#folder(), `result-${++this.#count}.${extension}`);
    const file = await open(path, "wx", 0o600);
    try {
      await writeText(file, text);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    return path;
  }

  /**
   * The folder, made anew if somebody has removed it. Made synchronously: if the host exited meanwhile, nothing would remove
   * it.
   */
  #folder(): string {
    if (this.#path !== undefined && existsSync(this.#path)) return this.#path;
    const path = mkdtempSync(join(this.#parent ?? builtin("node:os").tmpdir(), "rpi-mcp-"));
    this.#forgetFolder();
    if (folders.size === 0) process.on("exit", removeFolders);
    folders.add(path);
    this.#path = path;
    chmodSync(path, 0o700);
    return path;
  }

  #forgetFolder(): void {
    if (this.#path === undefined) return;
    folders.delete(this.#path);
    if (folders.size === 0) process.off("exit", removeFolders);
    this.#path = undefined;
  }
}

/** The folders of all sessions of this process, which share one exit listener: Node warns of more than ten. */
const folders = new Set<string>();

function removeFolders(): void {
  for (const path of folders) {
    try {
      rmSync(path, { ...REMOVE, retryDelay: 10 });
    } catch {
      // Thrown here it would change how the host ends.
    }
  }
}

/** Encodes and writes in pieces, so that memory never holds the whole text twice; one piece is encoded while the one before is written. */
async function writeText(file: FileHandle, text: string): Promise<void> {
  let writing: Promise<void> | undefined;
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, at + PIECE_CHARACTERS);
    const whole = at + piece.length < text.length ? withoutHalfCharacter(piece) : piece;
    const bytes = Buffer.from(whole);
    await writing;
    writing = file.appendFile(bytes);
    at += whole.length;
  }
  await writing;
}
