import type { Deadline, Deadlines } from "../deadlines.ts";

/** A server's proof that it is alive, asked for once at a time and awaited for a bounded time. */
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

  /** Any message will do, an error answer to the probe included. */
  end(): void {
    this.#deadlines.clear(this);
  }

  onDue(): void {
    this.#onSilence();
  }
}
