import type { Deadline, Deadlines } from "../deadlines.ts";

/** A liveness check: after a request was given up, the server must send any message within a bounded time. One runs at a time. */
export class AliveProbe implements Deadline {
  dueAt = Number.POSITIVE_INFINITY;
  place = -1;
  readonly #deadlines: Deadlines;
  readonly #milliseconds: number;
  readonly #onSilence: () => void;

  constructor(deadlines: Deadlines, milliseconds: number, onSilence: () => void) {
    this.#deadlines = deadlines;
    this.#milliseconds = milliseconds;
    this.#onSilence = onSilence;
  }

  get isOpen(): boolean {
    return this.place >= 0;
  }

  begin(): void {
    this.#deadlines.set(this, this.#milliseconds);
  }

  /** Called for any message of the server; even an error answer to the probe proves that it is alive. */
  end(): void {
    this.#deadlines.clear(this);
  }

  onDue(): void {
    this.#onSilence();
  }
}
