import { getMaxListeners, setMaxListeners } from "node:events";
import { clearInterval, setInterval } from "node:timers";
import { callBack } from "../call-back.ts";
import type { AgentToolResult, ErrorCode, StepHandle, StepResult } from "../contract.ts";

/** How often partial results are fetched while a step runs; nobody is woken where nobody wants them. */
const PARTIAL_MS = 40;

export interface DriveOptions {
  /** Cancels the step. */
  readonly signal?: AbortSignal | undefined;
  readonly onPartial?: ((partial: AgentToolResult) => void) | undefined;
}

/** A failed step as an exception, with the contract's code. */
export class StepError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = "StepError";
    this.code = code;
    this.details = details;
  }
}

/**
 * Drives a handle to its end, and destroys it. For hosts that want a promise.
 * @throws StepError; what `onPartial` or the handle's `poll` throws, which cancels the step.
 */
export function drive(handle: StepHandle, { signal, onPartial }: DriveOptions = {}): Promise<AgentToolResult> {
  return signal === undefined && onPartial === undefined ? awaited(handle) : watched(handle, signal, onPartial);
}

/** The fast path, without signal and partials: no timer and no listener is created. */
function awaited(handle: StepHandle): Promise<AgentToolResult> {
  const end = (): AgentToolResult => {
    try {
      return resultOf(handle.poll());
    } finally {
      handle.destroy();
    }
  };
  return handle.settled.then(end, end);
}

async function watched(
  handle: StepHandle,
  signal: AbortSignal | undefined,
  onPartial: DriveOptions["onPartial"],
): Promise<AgentToolResult> {
  let broken: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    // Thrown in a timer it would end the process instead of this call.
    broken ??= { error };
    handle.cancel();
  };
  const guarded = (work: () => unknown): void => {
    if (broken === undefined) callBack(work, fail);
  };
  const show = (partial: AgentToolResult): void => guarded(() => onPartial?.(partial));
  const cancel = (): void => handle.cancel();
  const poll = (): void => guarded(() => void handle.poll(show));
  const poller = onPartial === undefined ? undefined : setInterval(poll, PARTIAL_MS);
  const uncount = uncounted(signal);
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
  try {
    await handle.settled;
    const end = handle.poll(show);
    if (broken !== undefined) throw broken.error;
    return resultOf(end);
  } finally {
    clearInterval(poller);
    signal?.removeEventListener("abort", cancel);
    uncount();
    handle.destroy();
  }
}

/**
 * Raises the listener limit of a host's signal by one, until the returned function lowers it again: a host may pass one signal to many
 * calls, and Node warns of more than ten listeners.
 */
function uncounted(signal: AbortSignal | undefined): () => void {
  if (signal === undefined) return () => undefined;
  const move = (by: number): void => {
    try {
      const limit = getMaxListeners(signal);
      // 0 is no limit, as of every signal in newer Nodes.
      if (limit > 0) setMaxListeners(limit + by, signal);
    } catch {
      // Older Nodes refuse to tell the limit of one that has none, and all of them of what only looks like a signal.
    }
  };
  move(1);
  return () => move(-1);
}

function resultOf(end: StepResult): AgentToolResult {
  if (end.tag === "done") return end.result;
  if (end.tag === "err") throw new StepError(end.code, end.message, end.details);
  throw new StepError("internal", "The step settled without a result.");
}
