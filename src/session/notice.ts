import { Cancellation } from "../cancellation.ts";
import { clock } from "../clock.ts";
import type { Deadline, Deadlines } from "../deadlines.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import type { SendOptions, Transport } from "../transport/transport.ts";

export interface NoticeOptions {
  readonly transport: Transport;
  readonly deadlines: Deadlines;
  /** Time for an exchange of its own. */
  readonly milliseconds: number;
  /** Asked when that is over: while it says `true`, the exchange has as much time again. */
  readonly isOfUse?: () => boolean;
  /** When it was asked for: what had to wait for its turn longer than that, and is of no use by then, is not sent. */
  readonly since?: number;
}

/**
 * Sends what nobody here waits for: a notice, or an answer to a question of the server. Resolves when it is handed over or given
 * up, and never rejects: if the connection is broken, the next request finds out.
 * Where all messages share one pipe it lives as long as the connection: a line that is half written cannot be taken back.
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

/** How long a message may take. Is itself the transport's `SendOptions`. */
class Patience implements SendOptions, Deadline {
  readonly cancellation = new Cancellation();
  /** Nobody here would notice that it was lost: the server would go on waiting, or working. */
  readonly once = true;
  dueAt = Number.POSITIVE_INFINITY;
  place = -1;
  readonly #options: NoticeOptions;

  constructor(options: NoticeOptions) {
    this.#options = options;
    options.deadlines.set(this, options.milliseconds);
  }

  /** An answer may be worth a sign-in to whoever waits for what comes of it; what is only told is not. */
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
