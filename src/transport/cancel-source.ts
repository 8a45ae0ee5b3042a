import type { SendOptions } from "./transport.ts";

/** What can say that a message is given up: a `Cancellation`, or a signal of the platform. */
export interface CancelSource {
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
  /** The returned function takes the listener off. */
  onCancel(listener: () => void): () => void;
}

export function cancelSourceOf({ cancellation, signal }: SendOptions): CancelSource | undefined {
  return cancellation ?? (signal === undefined ? undefined : fromSignal(signal));
}

export function fromSignal(signal: AbortSignal): CancelSource {
  return {
    signal,
    get cancelled() {
      return signal.aborted;
    },
    onCancel(listener) {
      signal.addEventListener("abort", listener);
      return () => signal.removeEventListener("abort", listener);
    },
  };
}
