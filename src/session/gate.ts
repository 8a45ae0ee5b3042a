/** Lets a bounded number of works run at once; a bounded number waits its turn, in order, and what exceeds that is dropped. */
export class Gate {
  readonly #atOnce: number;
  readonly #waitingAtMost: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(atOnce: number, waitingAtMost: number) {
    this.#atOnce = atOnce;
    this.#waitingAtMost = waitingAtMost;
  }

  /** The work must not reject. */
  admit(work: () => Promise<void>): void {
    if (this.#running < this.#atOnce) void this.#run(work);
    else if (this.#waiting.length < this.#waitingAtMost) this.#waiting.push(work);
  }

  async #run(work: () => Promise<void>): Promise<void> {
    this.#running++;
    try {
      await work();
    } finally {
      this.#running--;
      const next = this.#waiting.shift();
      if (next !== undefined) void this.#run(next);
    }
  }
}
