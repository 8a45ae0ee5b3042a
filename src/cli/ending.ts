/** An early end of the program: by a signal, or because stdout was closed. */
export class Ending {
  readonly #controller = new AbortController();
  #status: number | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The exit status of the early end; nothing while there is none. */
  get status(): number | undefined {
    return this.#status;
  }

  /** The first reason counts. Returns whether this was it. */
  begin(status: number): boolean {
    if (this.#status !== undefined) return false;
    this.#status = status;
    this.#controller.abort();
    return true;
  }
}
