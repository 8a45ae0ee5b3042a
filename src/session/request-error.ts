import { AdapterError, isAdapterError } from "../errors.ts";
import type { GaveUp, Pending } from "./pending.ts";

/**
 * A failure of the connection, told for one request that it ended: which method, and whether its outcome is unknown. A
 * transport knows neither methods nor side effects.
 */
export function forRequest(error: unknown, method: string, effects: boolean): unknown {
  if (!isAdapterError(error)) return error;
  const { details } = error;
  const facts: Record<string, unknown> = { ...details };
  if ("outcomeUnknown" in details) facts["outcomeUnknown"] = details["outcomeUnknown"] === true && effects;
  if (error.situation === "closed" || typeof details["method"] === "string") facts["method"] = method;
  return new AdapterError(error.situation, facts as never, { cause: error.cause ?? error });
}

/** A failure to connect: whatever became of an exchange of its own, no call was sent yet. */
export function beforeCalls(error: unknown): unknown {
  if (!isAdapterError(error) || !("outcomeUnknown" in error.details)) return error;
  const facts = { ...error.details, outcomeUnknown: false };
  return new AdapterError(error.situation, facts as never, { cause: error.cause ?? error });
}

/** Why a request ended without an answer: somebody cancelled it, or its time was over. */
export function gaveUp(
  server: string,
  pending: Pending,
  why: GaveUp,
  onTheWire: boolean,
  diagnostics: Readonly<Record<string, unknown>>,
): AdapterError {
  if (why === "cancelled") return new AdapterError("cancelled", { server });
  return new AdapterError("timeout", {
    server,
    method: pending.method,
    outcomeUnknown: pending.outcomeUnknown && onTheWire,
    phase: pending.outcomeUnknown ? "call" : "discovery",
    seconds: pending.waitedSeconds,
    ...diagnostics,
  });
}
