import { isObject } from "../protocol/jsonrpc.ts";
import { readable } from "../remote-text.ts";
import { Pieces } from "./joining.ts";

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Bytes to lines in linear time: only new bytes are searched, and a line that came in pieces is joined once.
 * Lines are given without their end (LF or CRLF), and lent: they are good until the listener returns. A byte order mark at the
 * very start of the stream is left out (RFC 8259, 8.1).
 */
export class LineSplitter {
  readonly #limitBytes: number;
  readonly #onLine: (line: Buffer) => void;
  readonly #onOverflow: () => void;
  readonly #parts = new Pieces();
  #first = true;
  #overflowed = false;

  /** `onOverflow` is called once, as soon as a line has more than `limitBytes`; everything after it is dropped. */
  constructor(limitBytes: number, onLine: (line: Buffer) => void, onOverflow: () => void) {
    this.#limitBytes = limitBytes;
    this.#onLine = onLine;
    this.#onOverflow = onOverflow;
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (!this.#overflowed) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      this.#take(chunk.subarray(start, end));
      start = end + 1;
    }
    if (!this.#overflowed && start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
  }

  /** The stream ended: what is left counts as a line. */
  end(): void {
    if (this.#parts.bytes > 0 && !this.#overflowed) this.#take(Buffer.alloc(0));
  }

  #take(piece: Buffer): void {
    if (this.#parts.bytes + piece.length > this.#limitBytes) {
      this.#overflow();
      return;
    }
    if (this.#parts.bytes === 0) {
      this.#give(piece);
      return;
    }
    this.#parts.push(piece);
    this.#parts.give((line) => this.#give(line));
  }

  #give(raw: Buffer): void {
    let line = raw;
    if (this.#first) {
      this.#first = false;
      if (line.subarray(0, 3).equals(BYTE_ORDER_MARK)) line = line.subarray(3);
    }
    if (line.length > 0 && line[line.length - 1] === CARRIAGE_RETURN) line = line.subarray(0, -1);
    if (line.length > 0) this.#onLine(line);
  }

  #keep(piece: Buffer): void {
    if (this.#parts.bytes + piece.length > this.#limitBytes) this.#overflow();
    else this.#parts.push(piece);
  }

  #overflow(): void {
    this.#overflowed = true;
    this.#parts.clear();
    this.#onOverflow();
  }
}

const ENVELOPE = '{"';

/**
 * The JSON-RPC message at the end of a line that begins with something else: terminal escapes, or a log text without a line end. Behind
 * a text only a response is taken, since a request is more likely quoted by a log.
 */
export function messageWithin(line: Buffer): Buffer | undefined {
  const start = line.indexOf(ENVELOPE);
  if (start <= 0) return undefined;
  const rest = line.subarray(start);
  try {
    const message: unknown = JSON.parse(rest.toString());
    const isAnswer = isObject(message) && message["jsonrpc"] === "2.0" && message["method"] === undefined;
    return isAnswer || readable(line.toString("utf8", 0, start)).trim() === "" ? rest : undefined;
  } catch {
    return undefined; // A text like any other.
  }
}
