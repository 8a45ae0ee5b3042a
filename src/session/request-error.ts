import { AdapterError, isAdapterError, isSituation } from "../errors.ts";
import { SESSION_OVER, type Situation } from "../messages.ts";
import type { GaveUp, Pending } from "./pending.ts";

/** What a transport says of a whole connection, or of any exchange. */
const METHODLESS: ReadonlySet<Situation> = new Set([
  "closed",
  "closed.stopped",
  "limit.message",
  "limit.stream",
  "auth.required",
]);

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
    ...(METHODLESS.has(situation) || typeof details["method"] === "string" ? { method } : {}),
  };
  return new AdapterError<Situation>(situation, facts, { cause: error.cause ?? error });
}

/** Whether an error text is about a session: servers word a lost session in many ways, which have only this word in common. */
export function speaksOfSession(words: unknown): boolean {
  return /\bsession(?:_?id)?\b/i.test(String(words));
}

/** Whether a refusal in these words means a lost session. Never for a tool call: the list request before it would have failed first. */
export function losesSession({ method }: Pending, words: unknown): boolean {
  return method !== "tools/call" && speaksOfSession(words);
}

/** Whether the failure of a request says that its session is lost, as far as that can be told. */
export function endsSession(error: unknown, pending: Pending): boolean {
  if (isSituation(error, "session.expired")) return true;
  const isRefusal = isSituation(error, "http.status") || isSituation(error, "auth.required");
  return isRefusal && error.details.status !== 429 && losesSession(pending, error.details.body);
}

/** Adds the hint that the session was lost to an HTTP error that has no hint yet. */
export function tellingOfSession(error: unknown): unknown {
  if (!isSituation(error, "http.status") || error.details.hint !== undefined) return error;
  return new AdapterError("http.status", { ...error.details, hint: SESSION_OVER });
}

/** An error of the handshake: no call was sent yet, so its outcome is never unknown. */
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
    phase: pending.hasEffects ? "call" : "discovery",
    seconds: pending.waitedSeconds,
    ...diagnostics,
  });
}
