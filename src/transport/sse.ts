import { isAscii } from "node:buffer";
import { createParser, type EventSourceParser } from "eventsource-parser";
import type { Raw } from "./transport.ts";

export interface StreamEvent {
  /** Empty for the default type. */
  readonly type: string;
  /** Empty in an event that only names an id. */
  readonly data: Raw;
  /** As it can be sent in a header; absent if the event has none. */
  readonly id?: string;
}

/** Room for a field's name beside the largest data. */
const FIELD_CHARACTERS = 64;
const BEYOND_ASCII = /[\x80-\xff]/;
const BOM = [0xef, 0xbb, 0xbf];

/**
 * Bytes of an event stream in, events out, in time linear in the bytes.
 * The parser is fed Latin-1, one character a byte: no character is ever cut between chunks, and a character counts as one
 * byte for the bound. Data that is not plain ASCII is handed on as the bytes it came in.
 */
export class EventStreamDecoder {
  readonly #parser: EventSourceParser;
  readonly #limitBytes: number;
  readonly #onEvent: (event: StreamEvent) => void;
  /** The first bytes, until it is clear whether they are a byte order mark. */
  #start: Buffer | undefined = Buffer.alloc(0);
  /** The last character was a CR, which ends a line with or without a LF. */
  #afterReturn = false;
  /** All bytes since the last event are ASCII, so that its data need not be searched for others. */
  #ascii = true;
  #dispatched = false;
  #tooLarge = false;

  constructor(limitBytes: number, onEvent: (event: StreamEvent) => void, onRetry?: (milliseconds: number) => void) {
    this.#limitBytes = limitBytes;
    this.#onEvent = onEvent;
    this.#parser = createParser({
      maxBufferSize: limitBytes + FIELD_CHARACTERS,
      onEvent: ({ data, event, id }) => this.#dispatch(data, event ?? "", id),
      ...(onRetry === undefined ? {} : { onRetry }),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") this.#tooLarge = true;
        // Unknown fields and odd retry values are passed over, as the format wants.
      },
    });
  }

  /** Takes the next bytes. Returns `false` once an event has more than the limit; nothing may follow then. */
  push(chunk: Buffer): boolean {
    if (this.#start !== undefined) {
      const start = this.#start.length === 0 ? chunk : Buffer.concat([this.#start, chunk]);
      const length = Math.min(start.length, BOM.length);
      const marked = BOM.slice(0, length).every((byte, at) => start[at] === byte);
      if (marked && length < BOM.length) {
        this.#start = start;
        return true;
      }
      this.#start = undefined;
      return this.#feed(marked ? start.subarray(BOM.length) : start);
    }
    return this.#feed(chunk);
  }

  /** The stream ended: an event whose closing blank line is missing is taken as it is. */
  end(): void {
    if (!this.#tooLarge) this.#parser.feed("\n\n");
  }

  #feed(chunk: Buffer): boolean {
    const ascii = isAscii(chunk);
    this.#ascii &&= ascii;
    this.#dispatched = false;
    this.#parser.feed(this.#unifyLineEnds(chunk.toString("latin1")));
    if (this.#dispatched) this.#ascii = ascii;
    return !this.#tooLarge;
  }

  /**
   * CR and CRLF become LF. The parser itself would hold back a CR at the end of a chunk, and so the event it ends, until more
   * comes; and it looks for the next CR from every line anew.
   */
  #unifyLineEnds(text: string): string {
    const rest = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#afterReturn = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
  }

  #dispatch(data: string, type: string, id: string | undefined): void {
    this.#dispatched = true;
    if (data.length > this.#limitBytes) this.#tooLarge = true;
    if (this.#tooLarge) return;
    this.#onEvent({
      type,
      data: this.#ascii || !BEYOND_ASCII.test(data) ? data : Buffer.from(data, "latin1"),
      ...(id === undefined ? {} : { id }),
    });
  }
}
