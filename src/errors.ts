import type { ErrorCode } from "./contract.ts";
import { type Facts, SENTENCES, type Situation } from "./messages.ts";
import { readable } from "./remote-text.ts";

const BRAND = Symbol.for("rpi-mcp-adapter.error");

/**
 * Every failure a host can see. Recognised by its brand, not by class, since a host may hold two copies of this package.
 * `situation` names the case exactly, `code` is the contract's code, and `details` are the facts the sentence was made from.
 */
export class AdapterError<S extends Situation = Situation> extends Error {
  readonly situation: S;
  readonly code: ErrorCode;
  readonly details: Facts[S] & Record<string, unknown>;
  readonly [BRAND] = true;

  /** `message` stands in place of the sentence. */
  constructor(situation: S, facts: Facts[S], { message, ...options }: ErrorOptions & { message?: string } = {}) {
    const row = SENTENCES[situation];
    // Servers' words and names from files are in it: hosts print it in terminals.
    super(readable(message ?? row.say(facts)), options);
    this.name = "AdapterError";
    this.situation = situation;
    this.code = row.code;
    this.details = { ...facts } as Facts[S] & Record<string, unknown>;
  }

  /** Also of another copy of this class: each entry of the package has its own. */
  static override [Symbol.hasInstance](value: unknown): value is AdapterError {
    return isAdapterError(value);
  }
}

/** Whether the value is an error of ours, from whichever copy of this package. Never throws. */
export function isAdapterError(value: unknown): value is AdapterError {
  try {
    return typeof value === "object" && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
  } catch {
    return false; // A revoked proxy throws for whatever it is asked.
  }
}

/** Whether the value is our error about exactly this situation. */
export function isSituation<S extends Situation>(value: unknown, situation: S): value is AdapterError<S> {
  return isAdapterError(value) && value.situation === situation;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Record<string, unknown>;
}

/** Whatever was thrown, as a host may see it: never a stack trace. */
export function toFailure(thrown: unknown): Failure {
  if (isAdapterError(thrown)) return { code: thrown.code, message: thrown.message, details: thrown.details };
  return toFailure(new AdapterError("internal", { reason: reasonOf(thrown) }));
}

/** The reason in a thrown value, for a sentence. Hosts throw all sorts of things: this never does. */
export function reasonOf(thrown: unknown): string {
  try {
    return statedReason(thrown);
  } catch {
    return "something that cannot be shown was thrown";
  }
}

function statedReason(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (!(thrown instanceof Error)) return String(thrown);
  const code = (thrown as NodeJS.ErrnoException).code;
  // An AggregateError of node:net (all addresses refused) has an empty message.
  if (thrown instanceof AggregateError && thrown.message === "" && thrown.errors.length > 0)
    return statedReason(thrown.errors[0]);
  return thrown.message || code || thrown.name;
}
