import { AdapterError, isAdapterError, isSituation } from "../errors.ts";
import { SESSION_OVER } from "../messages.ts";
import type { GaveUp, Pending } from "./pending.ts";

/**
 * The error of one request whose connection failed: it names the method, and says whether the outcome is unknown. A transport
 * knows neither methods nor side effects.
 */
export function forRequest(error: unknown, method: string, effects: boolean): unknown {
  if (!isAdapterError(error)) return error;
  const { details } = error;
  const facts: Record<string, unknown> = { ...details };
  if ("outcomeUnknown" in details) facts["outcomeUnknown"] = details["outcomeUnknown"] === true && effects;
  if (error.situation === "closed" || typeof details["method"] === "string") facts["method"] = method;
  return new AdapterError(error.situation, facts as never, { cause: error.cause ?? error });
}

/** Real servers say in many ways that they do not know a session any more; this much is common to them. */
export function speaksOfSession(words: unknown): boolean {
  return /\bsession(?:_?id)?\b/i.test(String(words));
}

/** Whether a request that was refused in these words has lost its session. A call of a tool follows a list, which has met that. */
export function losesSession({ method }: Pending, words: unknown): boolean {
  return method !== "tools/call" && speaksOfSession(words);
}

/** Whether the failure of a request says that its session is lost, as far as that can be told. */
export function endsSession(error: unknown, pending: Pending): boolean {
  if (isSituation(error, "session.expired")) return true;
  const isRefusal = isSituation(error, "http.status") || isSituation(error, "auth.required");
  return isRefusal && error.details.status !== 429 && losesSession(pending, error.details.body);
}

/** The refusal that ended a session, with what that means for who asked. */
export function tellingOfSession(error: unknown): unknown {
  if (!isSituation(error, "http.status") || error.details.hint !== undefined) return error;
  return new AdapterError("http.status", { ...error.details, hint: SESSION_OVER });
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
