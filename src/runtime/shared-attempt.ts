import { type CancelListener, Cancellation } from "../cancellation.ts";
import { AdapterError } from "../errors.ts";
import { PersonWait } from "../person-wait.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Transport } from "../transport/transport.ts";
import type { Connection } from "./connection.ts";
import type { Scope } from "./scope.ts";

/** The inputs of one attempt to connect. */
export interface Attempt {
  readonly spec: ServerSpec;
  readonly scope: Scope;
  readonly cancellation: Cancellation;
  /** The revision this server spoke last time. */
  readonly hint: string | undefined;
  readonly onTransport: (transport: Transport) => void;
  readonly onClosed: () => void;
  /** The server has forgotten the session. */
  readonly onExpired: () => void;
  readonly wait: PersonWait;
}

export type Connect = (attempt: Attempt) => Promise<Connection>;

/** How long one caller waits, and what ends its wait early. */
export interface Patience {
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
}

/**
 * A single-flight attempt to connect: several callers wait for it, each with its own deadline and cancellation, and it is cancelled
 * when the last of them has left.
 */
export class SharedAttempt {
  readonly cancellation = new Cancellation();
  readonly wait = new PersonWait();
  readonly #server: string;
  readonly #onDeserted: () => void;
  #promise: Promise<Connection> | undefined;
  #waiters = 0;
  /** The latest transport that it created, for the diagnostics of a timeout. */
  transport: Transport | undefined;

  constructor(server: string, onDeserted: () => void) {
    this.#server = server;
    this.#onDeserted = onDeserted;
  }

  begin(promise: Promise<Connection>): void {
    this.#promise = promise;
    // If every waiter has left before it fails, nobody else handles the rejection.
    promise.catch(nothing);
  }

  /** Resolves when it is over, whatever came of it. */
  over(): Promise<void> {
    return this.#promise?.then(nothing, nothing) ?? Promise.resolve();
  }

  /** @throws AdapterError `timeout` and `cancelled` for this caller alone, or why the attempt failed. */
  join({ timeoutMs, cancellation }: Patience): Promise<Connection> {
    const server = this.#server;
    return new Promise<Connection>((resolve, reject) => {
      this.#waiters++;
      const listener: CancelListener = { onCancel: () => leave(new AdapterError("cancelled", { server })) };
      const callOff = this.wait.alarm(timeoutMs, () => leave(this.#timedOut(timeoutMs)));
      let waiting = true;
      const settle = (): void => {
        if (!waiting) return;
        waiting = false;
        callOff();
        cancellation.delete(listener);
        this.#waiters--;
      };
      const leave = (error: AdapterError): void => {
        settle();
        reject(error);
        if (this.#waiters === 0) this.#onDeserted();
      };
      cancellation.add(listener);
      this.#promise?.then(resolve, reject).finally(settle);
    });
  }

  #timedOut(timeoutMs: number): AdapterError {
    return new AdapterError("timeout", {
      server: this.#server,
      method: "initialize",
      phase: "connect",
      seconds: timeoutMs / 1000,
      outcomeUnknown: false,
      ...this.transport?.diagnostics(),
    });
  }
}

function nothing(): void {}
