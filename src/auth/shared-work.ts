import { cancelledBy } from "./context.ts";

/**
 * Single-flight work: several callers wait for one execution, which has a signal of its own. A caller that gives up does not affect the
 * others; when the last one has, the work is aborted.
 */
export class SharedWork {
  readonly key: string;
  /** Resolves when the work has ended, whichever way. */
  readonly ended: Promise<void>;
  readonly #result: Promise<void>;
  readonly #controller = new AbortController();
  #waiting = 0;

  constructor(key: string, work: (signal: AbortSignal) => Promise<void>) {
    this.key = key;
    this.#result = work(this.#controller.signal);
    this.ended = this.#result.catch(() => undefined); // Those who joined hear of the failure.
  }

  /** All callers gave up, so it was aborted and cannot be joined any more. */
  get abandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for the result, or for the caller's own signal. */
  async join(signal: AbortSignal, server: string): Promise<void> {
    this.#waiting += 1;
    try {
      await abortable(this.#result, signal, server);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#controller.abort();
    }
  }
}

/** The promise, or a rejection as soon as the signal is aborted; the promise's later outcome is ignored. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal, server: string): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(cancelledBy(signal, server));
  });
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    // Raced even if the signal is aborted already: otherwise a later rejection of the promise would be unhandled.
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
