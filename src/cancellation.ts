/**
 * Says that somebody gave up. Much cheaper than an AbortController, which is made only for those who ask for a signal:
 * most calls end without one.
 */
export class Cancellation {
  #listeners: Set<() => void> | undefined;
  #controller: AbortController | undefined;
  #cancelled = false;

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** For code that wants the platform's signal. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#cancelled && !this.#controller.signal.aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Calls every listener once, synchronously; idempotent. */
  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#controller?.abort();
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  /** Registers a listener that must not throw; the returned function takes it off. Already cancelled: called at once. */
  onCancel(listener: () => void): () => void {
    if (this.#cancelled) {
      listener();
      return nothing;
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }
}

function nothing(): void {}
