import type { CancelListener } from "../cancellation.ts";
import type { SendOptions } from "./transport.ts";

/** What can say that a message is given up: a `Cancellation`, or a signal of the platform. */
export interface CancelSource {
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
  add(listener: CancelListener): void;
  delete(listener: CancelListener): void;
}

export function cancelSourceOf(options: SendOptions): CancelSource | undefined {
  if (options.cancellation !== undefined) return options.cancellation;
  // Read once, and only here: a signal may be made by asking for it.
  const { signal } = options;
  return signal === undefined ? undefined : fromSignal(signal);
}

export function fromSignal(signal: AbortSignal): CancelSource {
  return new SignalSource(signal);
}

class SignalSource implements CancelSource {
  readonly signal: AbortSignal;
  readonly #handlers = new Map<CancelListener, () => void>();

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  get cancelled(): boolean {
    return this.signal.aborted;
  }

  add(listener: CancelListener): void {
    const handler = (): void => listener.onCancel();
    this.#handlers.set(listener, handler);
    if (this.cancelled) handler();
    else this.signal.addEventListener("abort", handler);
  }

  delete(listener: CancelListener): void {
    const handler = this.#handlers.get(listener);
    if (handler !== undefined) this.signal.removeEventListener("abort", handler);
    this.#handlers.delete(listener);
  }
}
