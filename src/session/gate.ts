import type { Limits } from "../limits.ts";

export interface GateOptions {
  /** How many run concurrently. */
  readonly atOnce: number;
  /** How many may be queued. */
  readonly waiting: number;
  /** What all queued and running work may hold together; a single one may be larger. */
  readonly bytes: number;
}

interface Work {
  readonly run: () => Promise<void>;
  readonly bytes: number;
}

/**
 * A concurrency limiter with a bounded FIFO queue: work beyond the queue, or beyond the bytes that all of it may hold, is dropped.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #waiting: Work[] = [];
  #running = 0;
  #bytes = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** The limiter for the responses to one server's requests. */
  static forAnswers({ openAnswers, waitingAnswers, questionBytes }: Limits): Gate {
    return new Gate({ atOnce: openAnswers, waiting: waitingAnswers, bytes: questionBytes });
  }

  /** Runs, queues or drops the work, which must not reject. `bytes`: the memory it holds until it is over. */
  admit(run: () => Promise<void>, bytes: number): void {
    const { atOnce, waiting, bytes: limitBytes } = this.#options;
    if (this.#bytes > 0 && this.#bytes + bytes > limitBytes) return;
    if (this.#running >= atOnce && this.#waiting.length >= waiting) return;
    this.#bytes += bytes;
    if (this.#running < atOnce) void this.#run({ run, bytes });
    else this.#waiting.push({ run, bytes });
  }

  async #run({ run, bytes }: Work): Promise<void> {
    this.#running++;
    try {
      await run();
    } finally {
      this.#running--;
      this.#bytes -= bytes;
      const next = this.#waiting.shift();
      if (next !== undefined) void this.#run(next);
    }
  }
}
