import { Cancellation } from "../cancellation.ts";
import { clock } from "../clock.ts";
import type { Deadline, Deadlines } from "../deadlines.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import type { SendOptions, Transport } from "../transport/transport.ts";

export interface NoticeOptions {
  readonly transport: Transport;
  readonly deadlines: Deadlines;
  /** How long its HTTP exchange may take. */
  readonly milliseconds: number;
  /** Asked when that time is over: `true` extends it by the same time. */
  readonly isOfUse?: () => boolean;
  /** When the message became due: one that was queued for longer than `milliseconds`, and is of no use any more, is not sent. */
  readonly since?: number;
}

/**
 * Sends a message that expects no response: a notification, or the response to a request of the server. Resolves when it is sent or
 * given up, and never rejects: if the connection is broken, the next request finds out.
 * On stdio it has no timeout: a half-written line cannot be taken back.
 */
export async function sendNotice(message: JsonRpcMessage, options: NoticeOptions): Promise<void> {
  const { transport, since = clock.now(), isOfUse, milliseconds } = options;
  if (isOfUse?.() === false && clock.now() - since > milliseconds) return;
  const patience = transport.kind === "stdio" ? undefined : new Patience(options);
  try {
    await transport.send(message, patience);
  } catch {
    // See above.
  } finally {
    patience?.end();
  }
}

/** The timeout of one such message. It is also its `SendOptions`, so that both take one allocation. */
class Patience implements SendOptions, Deadline {
  readonly cancellation = new Cancellation();
  /** If it were lost on a stale connection, nobody here would notice, and the server would wait or work on. */
  readonly once = true;
  dueAt = Number.POSITIVE_INFINITY;
  place = -1;
  readonly #options: NoticeOptions;

  constructor(options: NoticeOptions) {
    this.#options = options;
    options.deadlines.set(this, options.milliseconds);
  }

  /** A notification is not worth a sign-in. A response is, if a call waits for what the server does with it. */
  get quiet(): boolean {
    return this.#options.isOfUse === undefined;
  }

  onDue(): void {
    const { deadlines, milliseconds, isOfUse } = this.#options;
    if (isOfUse?.() === true) deadlines.set(this, milliseconds);
    else this.cancellation.cancel();
  }

  end(): void {
    this.#options.deadlines.clear(this);
  }
}
