import type { Limits } from "../limits.ts";

export interface GateOptions {
  /** Works that run at the same time. */
  readonly atOnce: number;
  /** Works that may wait for their turn. */
  readonly waiting: number;
  /** What all works may hold together, those that run included; a single one may be larger. */
  readonly bytes: number;
}

interface Work {
  readonly run: () => Promise<void>;
  readonly bytes: number;
}

/** Lets a bounded number of works run at once; a bounded number waits its turn, in order, and what exceeds that is dropped. */
export class Gate {
  readonly #options: GateOptions;
  readonly #waiting: Work[] = [];
  #running = 0;
  #bytes = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** For the answers to what one server asks. */
  static forAnswers({ openAnswers, waitingAnswers, questionBytes }: Limits): Gate {
    return new Gate({ atOnce: openAnswers, waiting: waitingAnswers, bytes: questionBytes });
  }

  /** The work holds so many bytes until it is over, and must not reject. */
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
