import type { Redactor } from "../redactor.ts";

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

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about.
const ESCAPE_SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Remote text without what a terminal would interpret; line ends and tabs stay. */
export function readable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(ESCAPE_SEQUENCES, "").replace(CONTROLS, "");
}
