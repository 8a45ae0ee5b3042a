import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { atMost } from "../at-most.ts";
import { cut } from "../cut.ts";
import { AdapterError, isSituation, reasonOf } from "../errors.ts";
import { decoderFor } from "./decoder.ts";
import { Pieces } from "./joining.ts";

/** Bodies from this size on are collected in place; smaller ones are joined in memory that is used again. */
const LARGE_BYTES = 1024 * 1024;

/** Takes a piece of the decoded body; says whether more is wanted. */
type OnChunk = (chunk: Buffer) => boolean;

/** The beginning of a body. */
export interface Beginning {
  readonly bytes: Buffer;
  /** It is all of the body. */
  readonly whole: boolean;
}

/** What a response needs of its exchange. */
export interface ResponseOwner {
  readonly server: string;
  readonly label: string;
  readonly failure: unknown;
  onFailure: (error: unknown) => void;
  fail(error: unknown): void;
  broken(error: Error | undefined): void;
  ending(): void;
}

/** An HTTP response: its head at once, and its body, which is decoded, bounded while it arrives, and read once. */
export class HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #message: IncomingMessage;
  readonly #owner: ResponseOwner;

  constructor(message: IncomingMessage, owner: ResponseOwner) {
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    this.#message = message;
    this.#owner = owner;
    message.on("error", (error) => owner.broken(error));
  }

  get statusText(): string {
    return this.#message.statusMessage ?? "";
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The media type without parameters, in lower case; empty if there is none. */
  get contentType(): string {
    const type = this.headers["content-type"];
    if (type === undefined || type === "application/json" || type === "text/event-stream") return type ?? "";
    const end = type.indexOf(";");
    return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase();
  }

  /**
   * Gives the decoded body to `onChunk` as it arrives, until it ends (`true`) or `onChunk` returns `false` (`false`; the
   * rest is then for `release` or `destroy`). What `onChunk` throws ends the exchange.
   */
  read(onChunk: OnChunk): Promise<boolean> {
    return this.#read(onChunk, same);
  }

  /**
   * Passes the whole decoded body to `use` as soon as it is complete. The buffer is reused: it is valid until `use` returns.
   * @throws AdapterError `limit.message` as soon as it is too large; what `use` throws.
   */
  whole<T>(limitBytes: number, use: (body: Buffer) => T): Promise<T> {
    const { server } = this.#owner;
    const tooLarge = (): AdapterError =>
      new AdapterError("limit.message", { server, limitBytes, outcomeUnknown: true });
    const encoded = this.headers["content-encoding"] !== undefined;
    const collected = new Collector(encoded ? Number.NaN : Number(this.headers["content-length"]), limitBytes);
    if (collected.announced > limitBytes) return Promise.reject(tooLarge());
    return this.#read(
      (chunk) => {
        if (collected.size + chunk.length > limitBytes) throw tooLarge();
        collected.push(chunk);
        return true;
      },
      () => collected.give(use),
    );
  }

  /** The beginning of a body that only explains a refusal: at most so many bytes, and for at most so long. */
  async beginning(limitBytes: number, limitMs: number): Promise<Beginning> {
    const chunks: Buffer[] = [];
    let size = 0;
    const reading = this.read((chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      return size < limitBytes;
    });
    let whole = false;
    try {
      whole = await atMost(reading, limitMs, false);
      if (!whole) this.destroy();
    } catch (error) {
      // A refusal stays a refusal if its body breaks off; being stopped from our side does not become one.
      if (isSituation(error, "cancelled") || isSituation(error, "closed.stopped")) throw error;
    }
    return { bytes: Buffer.concat(chunks).subarray(0, limitBytes), whole };
  }

  /**
   * Passes over a body nobody reads. Resolves when the connection can be used again, or was closed because the body is
   * an event stream, larger than `limitBytes`, or not over after `limitMs`.
   */
  async skip(limitBytes: number, limitMs: number): Promise<void> {
    const message = this.#message;
    if (this.contentType === "text/event-stream") return this.destroy();
    let size = 0;
    message.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) this.destroy();
    });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.destroy(), limitMs);
      // Also when it broke off: what was to be said was in the head.
      const settle = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#owner.onFailure = settle;
      message.once("end", settle);
      message.once("close", settle);
    });
  }

  /** Lets a stream that has given its answer come to its end within `limitMs`, for the sake of the connection; then closes it. */
  release(limitMs: number): void {
    const message = this.#message;
    if (message.destroyed) return;
    message.socket?.unref();
    this.#owner.ending();
    message.resume();
    const timer = setTimeout(() => this.destroy(), limitMs);
    timer.unref();
    message.once("close", () => clearTimeout(timer));
  }

  /** The connection of this response is no longer a reason for Node to stay alive. */
  unref(): void {
    this.#message.socket?.unref();
  }

  /** Closes the connection without making a failure of it. */
  destroy(): void {
    this.#owner.onFailure = ignore;
    this.#message.destroy();
  }

  /** `then` makes the result of whether the body came to its end. */
  #read<T>(onChunk: OnChunk, then: (complete: boolean) => T): Promise<T> {
    const encoding = this.headers["content-encoding"]?.trim().toLowerCase();
    // An empty body is not damaged, whatever its encoding.
    const plain =
      encoding === undefined || encoding === "" || encoding === "identity" || this.headers["content-length"] === "0";
    if (plain) return this.#pump(this.#message, onChunk, then);
    return this.#readEncoded(encoding, onChunk, then);
  }

  async #readEncoded<T>(encoding: string, onChunk: OnChunk, then: (complete: boolean) => T): Promise<T> {
    const { server, label: method } = this.#owner;
    const decoder = await decoderFor(encoding);
    if (decoder === undefined) {
      const reason = `its content encoding ${JSON.stringify(cut(encoding, 40))} was not asked for`;
      throw new AdapterError("protocol.unreadable", { server, method, reason, outcomeUnknown: true });
    }
    decoder.on("error", (error) => {
      const reason = `its ${encoding} body is damaged (${reasonOf(error)})`;
      this.#owner.fail(
        new AdapterError("protocol.unreadable", { server, method, reason, outcomeUnknown: true }, { cause: error }),
      );
    });
    this.#message.pipe(decoder);
    try {
      return await this.#pump(decoder, onChunk, then);
    } finally {
      this.#message.unpipe(decoder);
      decoder.destroy();
    }
  }

  #pump<T>(source: Readable, onChunk: OnChunk, then: (complete: boolean) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const owner = this.#owner;
      if (owner.failure !== undefined) return reject(owner.failure);
      owner.onFailure = reject;
      let reading = true;
      source.on("data", (chunk: Buffer) => {
        if (!reading) return;
        try {
          reading = onChunk(chunk);
          if (!reading) resolve(then(false));
        } catch (error) {
          reading = false;
          owner.fail(error);
        }
      });
      source.on("end", () => {
        if (!this.#message.complete) return owner.broken(undefined);
        try {
          resolve(then(true));
        } catch (error) {
          owner.fail(error);
        }
      });
    });
  }
}

function ignore(): void {}

function same(complete: boolean): boolean {
  return complete;
}

/** Collects a body: into one buffer of the announced size where that is large, so that it is never there twice. */
class Collector {
  readonly announced: number;
  size = 0;
  readonly #chunks = new Pieces();
  readonly #whole: Buffer | undefined;

  constructor(announced: number, limitBytes: number) {
    this.announced = announced;
    // The parser hands out exactly as many bytes as were announced, or the exchange fails.
    if (announced >= LARGE_BYTES && announced <= limitBytes) this.#whole = Buffer.allocUnsafeSlow(announced);
  }

  push(chunk: Buffer): void {
    if (this.#whole === undefined) this.#chunks.push(chunk);
    else chunk.copy(this.#whole, this.size);
    this.size += chunk.length;
  }

  give<T>(use: (body: Buffer) => T): T {
    return this.#whole === undefined ? this.#chunks.give(use) : use(this.#whole);
  }
}
