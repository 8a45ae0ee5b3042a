import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { HttpResponse } from "./response.ts";
import { EventStreamDecoder, type StreamEvent } from "./sse.ts";
import type { SendOptions, Sink } from "./transport.ts";

/** What a header can carry of an event id. */
const SENDABLE_ID = /^[\x20-\x7e\x80-\xff]{1,4096}$/;

export interface ReplyStreamOptions {
  readonly server: string;
  readonly limits: Limits;
  readonly sink: Sink;
  /** The request that it answers. */
  readonly request?: SendOptions;
}

/** The event stream that answers one request; it may be resumed over several connections. */
export class ReplyStream {
  /** Where to resume; `undefined` if the stream cannot be resumed. */
  lastEventId: string | undefined;
  retryMs: number;
  /** The server has sent a `retry` that is more than a formality: it wants to be polled at that interval. */
  isPaced = false;
  /** The latest connection brought a message, or a new event id. */
  advanced = false;
  readonly #options: ReplyStreamOptions;
  #bytes = 0;
  #answered = false;

  constructor(options: ReplyStreamOptions) {
    this.#options = options;
    this.retryMs = options.limits.defaultRetryMs;
  }

  /**
   * Gives the messages of one connection's events to the sink. Resolves with whether the answer was among them; the rest of
   * the connection is then given a moment to end.
   * @throws AdapterError `closed` (it broke off), `limit.message`, `limit.stream`, ...
   */
  async read(response: HttpResponse): Promise<boolean> {
    const { server, limits } = this.#options;
    const decoder = new EventStreamDecoder(
      limits.messageBytes,
      (event) => this.#receive(event),
      (milliseconds) => {
        this.isPaced = milliseconds >= limits.minRetryMs;
        this.retryMs = Math.min(Math.max(milliseconds, limits.minRetryMs), limits.maxRetryMs);
      },
    );
    const ended = await response.read((chunk) => {
      this.#bytes += chunk.length;
      if (this.#bytes > limits.streamBytes)
        throw new AdapterError("limit.stream", { server, limitBytes: limits.streamBytes, outcomeUnknown: true });
      if (!decoder.push(chunk))
        throw new AdapterError("limit.message", { server, limitBytes: limits.messageBytes, outcomeUnknown: true });
      return !this.#answered;
    });
    if (ended) decoder.end();
    else response.release(limits.lingerMs);
    return this.#answered;
  }

  #receive({ type, data, id }: StreamEvent): void {
    // What follows the answer is ignored.
    if (this.#answered) return;
    if (id !== undefined && id !== this.lastEventId) {
      this.advanced = true;
      this.lastEventId = SENDABLE_ID.test(id) ? id : undefined;
    }
    // Data that is no message (a keep-alive, a garbled line) is passed over; the answer may still follow.
    const { sink, request } = this.#options;
    if (data.length === 0 || (type !== "" && type !== "message") || !sink.message(data, request)) return;
    this.advanced = true;
    this.#answered = request?.answered?.() === true;
  }
}
