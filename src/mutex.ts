/** Runs asynchronous work one at a time, in the order of the calls. A failure reaches its own caller only. */
export class Mutex {
  #latest: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const running = this.#latest.then(work);
    this.#latest = running.catch(() => undefined);
    return running;
  }
}
