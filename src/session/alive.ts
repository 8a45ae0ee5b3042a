/** A server's proof that it is alive, asked for once at a time and awaited for a bounded time. */
export class AliveProbe {
  readonly #milliseconds: number;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, onSilence: () => void) {
    this.#milliseconds = milliseconds;
    this.#onSilence = onSilence;
  }

  get isOpen(): boolean {
    return this.#timer !== undefined;
  }

  begin(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#onSilence();
    }, this.#milliseconds);
    this.#timer.unref();
  }

  /** Any message will do, an error answer to the probe included. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
