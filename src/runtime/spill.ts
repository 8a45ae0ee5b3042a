import { rmSync } from "node:fs";
import { chmod, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AdapterError } from "../errors.ts";
import { withoutHalfCharacter } from "../half-character.ts";

const CHUNK_CHARACTERS = 1_048_576;

/** Whole texts that were too long for the model, in private files until the session ends. */
export class Spill {
  #folder: Promise<string> | undefined;
  #path: string | undefined;
  #count = 0;
  #isCleared = false;
  readonly #writing = new Set<Promise<string>>();
  readonly #onExit = (): void => {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
  };

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
    process.off("exit", this.#onExit);
    const path = this.#path;
    this.#path = undefined;
    // What cannot be removed is left to the system's own cleaning of its temporary folder.
    if (path !== undefined) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }

  async #write(text: string, extension: string): Promise<string> {
    this.#folder ??= this.#create();
    const path = join(await this.#folder, `result-${++this.#count}.${extension}`);
    const file = await open(path, "wx", 0o600);
    try {
      // In pieces: the bytes of the whole text need not be in memory beside it.
      for (let at = 0; at < text.length; ) {
        const piece = text.slice(at, at + CHUNK_CHARACTERS);
        const whole = at + piece.length < text.length ? withoutHalfCharacter(piece) : piece;
        await file.appendFile(whole);
        at += whole.length;
      }
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    return path;
  }

  async #create(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "rpi-mcp-"));
    await chmod(path, 0o700);
    this.#path = path;
    process.on("exit", this.#onExit);
    return path;
  }
}
