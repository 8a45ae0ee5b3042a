import { setMaxListeners } from "node:events";

/** Called once, when the operation is cancelled; must not throw. */
export interface CancelListener {
  onCancel(): void;
}

/**
 * A lightweight AbortController for the path of a call, where most operations have one listener and need no AbortSignal. A real
 * controller is created only when somebody reads `signal`.
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

/** Without a listener limit: one step may have many questions open, each of which listens, and Node warns of more than ten. */
function listenable(): AbortController {
  const controller = new AbortController();
  setMaxListeners(Number.POSITIVE_INFINITY, controller.signal);
  return controller;
}
