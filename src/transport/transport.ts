import type { Cancellation } from "../cancellation.ts";
import type { Wire } from "../protocol/dialect.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";

/** One framed message as it arrived, not yet parsed: an unchanged list is recognised by its bytes. */
export type Raw = Buffer | string;

/** The receiver of a transport's messages. */
export interface Sink {
  /**
   * Takes one framed message. Returns whether it was JSON-RPC at all; the transport decides what `false` means (a junk line, a
   * broken body). The buffer is reused: it is valid until this returns. `to`: the options of the request on whose own stream the
   * message came.
   */
  message(raw: Raw, to?: SendOptions): boolean;
  /** The connection cannot be used any more. Called at most once, never after `close` was called. */
  closed(error: Error): void;
}

export interface SendOptions {
  /** HTTP headers of this message, already encoded. Ignored where there are none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Gives up on the message: an HTTP exchange is closed at once, a line not yet written is not written. */
  readonly cancellation?: Cancellation;
  /**
   * Asked after each message given to the sink: `true` says that what this request waited for has come. The rest of its
   * stream is then not waited for, and a stream that ends while this still says `false` may be resumed.
   */
  readonly answered?: () => boolean;
  /** Told of the status of a refusal whose body is the answer, before the sink gets it. */
  refusedWith?(status: number): void;
  /** Told `true` before any of it can reach the server, which may run it from then on; `false` once it was refused unexecuted. */
  mayRun?(may: boolean): void;
  /** Send on a connection that was never idle: the pool's idle sockets are closed first. Ignored where there is no pool. */
  readonly fresh?: boolean;
  /** It must not be lost: sent on no connection that was idle for long, which may be dead. Ignored where there is no pool. */
  readonly once?: boolean;
  /** Nobody waits for it, so nobody is asked to sign in for it: refused for lack of authorization, it is given up. */
  readonly quiet?: boolean;
  /** The server may want to ask something before it answers: where it needs a stream for that, the stream stands open meanwhile. */
  readonly mayAsk?: boolean;
}

/** The status of a refused request, and the start of its body as it came. */
export interface Rejection {
  readonly status: number;
  readonly body: string;
}

/** The shared promise that `send` returns when the message was handed over synchronously, so that the usual case allocates none. */
export const HANDED_OVER: Promise<void> = Promise.resolve();

/**
 * Moves messages. Knows nothing of ids or eras; it may tell a request from a notification, and which message opens a session.
 *
 * Errors thrown by `open` and `send` are `AdapterError`s. With `outcomeUnknown: true` in its details the message may have
 * reached the server; `false` means it certainly did not run.
 */
export interface Transport {
  readonly kind: "stdio" | "http" | "sse";
  /** Each request has a reply stream of its own, so that aborting it cancels the request. */
  readonly ownStream: boolean;
  /** Makes the connection ready to send. @throws AdapterError `spawn_failed`, `connect_failed`. */
  open(sink: Sink, signal?: AbortSignal): Promise<void>;
  /** The dialect was chosen: what it needs from the connection holds from the next message on. */
  adopt(wire: Wire): void;
  /**
   * Sends one message. Where `ownStream` is false it resolves when the bytes are handed over; where it is true, when the
   * whole exchange is over and everything in it was given to the sink: no answer to this request can come afterwards.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /** Ends the connection and everything that belongs to it, in bounded time; idempotent, never rejects. */
  close(): Promise<void>;
  /** Facts for the diagnostic of a failure: exit code, stderr tail, skipped lines. */
  diagnostics(): Readonly<Record<string, unknown>>;
}

/** How transports for one server are created. */
export interface TransportFactory {
  readonly create: () => Transport;
  /**
   * The transport of the first revision, for a server that refuses the present one; absent where it cannot apply.
   * `onSpoken` is told once the server has shown that it speaks it.
   */
  readonly createLegacy?: (onSpoken?: () => void) => Transport;
  /** The entry names its transport: another is recognised, so that it can be named, and not used. */
  readonly named?: boolean;
  /** The refusal that an error stands for, if it stands for one. */
  readonly rejectionOf: (error: unknown) => Rejection | undefined;
}
