import { AdapterError, isAdapterError, isSituation } from "../errors.ts";
import { SESSION_OVER, type Situation } from "../messages.ts";
import type { GaveUp, Pending } from "./pending.ts";

/**
 * The error of one request whose connection failed: it names the method, and says whether the outcome is unknown. A transport
 * knows neither methods nor side effects.
 */
export function forRequest(error: unknown, method: string, effects: boolean): unknown {
  if (!isAdapterError(error)) return error;
  const { situation, details } = error;
  const facts = {
    ...details,
    ...("outcomeUnknown" in details ? { outcomeUnknown: details["outcomeUnknown"] === true && effects } : {}),
    ...(situation === "closed" || typeof details["method"] === "string" ? { method } : {}),
  };
  return new AdapterError<Situation>(situation, facts, { cause: error.cause ?? error });
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
  return new AdapterError<Situation>(
    error.situation,
    { ...error.details, outcomeUnknown: false },
    { cause: error.cause ?? error },
  );
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
