import { setMaxListeners } from "node:events";

/** Told once when somebody gives up; must not throw. */
export interface CancelListener {
  onCancel(): void;
}

/**
 * Says that somebody gave up. Much cheaper than an AbortController, which is made only for those who ask for a signal:
 * most calls end without one, and with one listener at a time.
 */
export class Cancellation {
  #listener: CancelListener | undefined;
  #others: Set<CancelListener> | undefined;
  #controller: AbortController | undefined;
  #cancelled = false;

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** For code that wants the platform's signal; it takes any number of listeners without a warning. */
  get signal(): AbortSignal {
    this.#controller ??= listenable();
    if (this.#cancelled && !this.#controller.signal.aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Calls every listener once, synchronously; idempotent. */
  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    const listener = this.#listener;
    const others = this.#others;
    this.#listener = undefined;
    this.#others = undefined;
    this.#controller?.abort();
    listener?.onCancel();
    if (others !== undefined) for (const other of others) other.onCancel();
  }

  /** Registers a listener. Already cancelled: it is called at once. */
  add(listener: CancelListener): void {
    if (this.#cancelled) listener.onCancel();
    else if (this.#listener === undefined) this.#listener = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  delete(listener: CancelListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  /** As `add`, for a function; the returned function takes it off. */
  onCancel(listener: () => void): () => void {
    const entry: CancelListener = { onCancel: listener };
    this.add(entry);
    return () => this.delete(entry);
  }
}

/** A step may ask many things at once, and each listens for its end. */
function listenable(): AbortController {
  const controller = new AbortController();
  setMaxListeners(Number.POSITIVE_INFINITY, controller.signal);
  return controller;
}
