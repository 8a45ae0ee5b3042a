import type { Redactor } from "../redactor.ts";
import { readable } from "../remote-text.ts";

/** The newest bytes of a stream, for diagnostics: bounded memory however much comes. */
export class StderrTail {
  readonly #limitBytes: number;
  readonly #redactor: Redactor;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = false;

  constructor(limitBytes: number, redactor: Redactor) {
    this.#limitBytes = limitBytes;
    this.#redactor = redactor;
  }

  push(chunk: Buffer): void {
    // A copy: a slice would keep the whole buffer that the stream read into.
    const piece = Buffer.from(
      chunk.length > this.#limitBytes ? chunk.subarray(chunk.length - this.#limitBytes) : chunk,
    );
    this.#dropped ||= piece.length < chunk.length;
    this.#chunks.push(piece);
    this.#bytes += piece.length;
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= this.#limitBytes) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
      this.#dropped = true;
    }
  }

  /**
   * Readable text of at most the limit, cut at a character border, without terminal escapes and other control characters,
   * and without the end of a secret whose beginning was dropped.
   */
  text(): string {
    let bytes = Buffer.concat(this.#chunks);
    if (bytes.length > this.#limitBytes) {
      bytes = bytes.subarray(bytes.length - this.#limitBytes);
      this.#dropped = true;
    }
    let start = 0;
    // Continuation bytes of a character whose beginning was dropped.
    if (this.#dropped) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    const text = readable(bytes.subarray(start).toString("utf8")).trimEnd();
    return this.#dropped ? this.#redactor.end(text) : text;
  }
}
