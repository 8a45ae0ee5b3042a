import { cut } from "../cut.ts";
import { LIMITS } from "../limits.ts";
import type { ClientIdentity, Dialect, ServerIdentity, Wire } from "./dialect.ts";
import { handshakeDialect, handshakeWire } from "./handshake.ts";
import { mirrorHeaders } from "./headers.ts";
import {
  isFailure,
  isObject,
  isResponse,
  type JsonRpcErrorObject,
  type JsonRpcMessage,
  METHOD_NOT_FOUND,
  parseMessages,
  UNSUPPORTED_PROTOCOL_VERSION,
} from "./jsonrpc.ts";
import { discoveredIdentity, statelessDialect, statelessRequest, statelessWire } from "./stateless.ts";
import {
  declarable,
  isHandshake,
  OFFERED,
  OLDER,
  otherHandshake,
  REVISIONS,
  SELF_DESCRIBING,
  spokenFor,
} from "./versions.ts";

/** The outcome of sending one message of the handshake. */
export type Probe =
  | { readonly kind: "reply"; readonly message: JsonRpcMessage }
  | { readonly kind: "rejected"; readonly status: number; readonly body: string }
  | { readonly kind: "closed" }
  | { readonly kind: "silent" }
  | { readonly kind: "sent" };

/** A step of the opening: send this, on a fresh connection if `fresh` is set. */
export interface OpeningStep {
  readonly message: JsonRpcMessage;
  readonly headers?: Readonly<Record<string, string>>;
  /** Send it on a new connection: the old one is closed, or would refuse it. */
  readonly fresh?: boolean;
  /** A guess after a refusal: it gets only a short time to be answered. */
  readonly isGuess?: boolean;
  /** Headers and session handling that must hold before the message is sent. */
  readonly adopt?: Wire;
}

/** Why the handshake failed, as facts; `session/connect.ts` turns them into errors. */
export type OpeningFailure =
  /** `answered` is one version or several, `named` the list as it came. */
  | {
      readonly kind: "version";
      readonly offered: string;
      readonly answered: string | null;
      readonly named?: readonly unknown[];
    }
  | { readonly kind: "refused"; readonly rpcError: JsonRpcErrorObject }
  /** The probe itself is the reason; the caller has the error that produced it. */
  | { readonly kind: "probe"; readonly probe: Probe };

export type OpeningResult = { readonly dialect: Dialect } | { readonly failure: OpeningFailure };

/** The handshake without I/O, as a generator: it yields messages to send, is resumed with their outcomes, and returns the dialect. */
export type Opening = Generator<OpeningStep, OpeningResult, Probe>;

/** Ids of the opening's own requests; those of the session come after them. */
const INITIALIZE_ID = 1;
const OTHER_VERSION_ID = 2;
const DISCOVER_ID = 3;
const DISCOVER_AGAIN_ID = 4;
/** Of the first older offer; the others follow, before the session's own begin. */
const OLDER_ID = 5;
const BAD_REQUEST = 400;

/**
 * Finds out how to speak with a server. `pin` is `auto` or the one revision that is accepted; `hint` is what this server
 * spoke last time, to be tried first. Versioning and Compatibility of 2026-07-28; Lifecycle of the earlier revisions.
 * `initialize` goes first: servers of both kinds answer it, while many refuse it after a `server/discover`.
 */
export function* negotiate(client: ClientIdentity, pin: string, hint?: string): Opening {
  if (pin !== "auto")
    return spoken(pin === SELF_DESCRIBING ? yield* discover(client) : yield* pinned(client, pin), pin);
  if (hint !== SELF_DESCRIBING) return yield* handshake(client, false);
  const learnt = yield* discover(client);
  return "dialect" in learnt ? learnt : yield* handshake(client, true);
}

/** One revision and no other. */
function* pinned(client: ClientIdentity, pin: string): Opening {
  const probe = yield initialize(client, INITIALIZE_ID, pin);
  const reading = read(probe);
  if (reading.kind === "result") return yield* accept(client, reading.result, pin, pin);
  if (reading.kind === "other") return failure({ kind: "probe", probe });
  return refused(reading.error, pin);
}

/** A server that does not know the message with which a revision begins does not speak it. */
function spoken(result: OpeningResult, pin: string): OpeningResult {
  if ("dialect" in result || result.failure.kind !== "refused" || result.failure.rpcError.code !== METHOD_NOT_FOUND)
    return result;
  return failure({ kind: "version", offered: pin, answered: "" });
}

/** `initialize`, and what a refusal leads to: a version that the server names, or the way without a handshake. */
function* handshake(client: ClientIdentity, fresh: boolean): Opening {
  const first = yield { ...initialize(client, INITIALIZE_ID, OFFERED), ...(fresh ? { fresh } : {}) };
  const reading = read(first);
  if (reading.kind === "result") return yield* accept(client, reading.result, OFFERED);
  if (reading.kind === "other" && !mayBeSelfDescribing(first)) return failure({ kind: "probe", probe: first });

  const named = reading.kind === "error" ? supportedVersions(reading.error) : undefined;
  if (reading.kind === "error" && named !== undefined && !named.includes(SELF_DESCRIBING))
    return yield* otherVersion(client, reading.error, named);

  // A server that does not know `initialize` will answer; one that refuses it for another reason may stay silent from now on.
  const isGuess = reading.kind === "error" && reading.error.code !== METHOD_NOT_FOUND && named === undefined;
  const forward = yield* discover(client, true, isGuess);
  if ("dialect" in forward) return forward;
  // The first refusal says more than the failed second guess, unless the server named versions only in the second.
  if (forward.failure.kind === "version") return yield* otherVersion(client, undefined, forward.failure.named ?? []);
  const silent = forward.failure.kind === "probe" && forward.failure.probe.kind === "silent";
  if (silent || forward.failure.kind === "refused" || forward.failure.probe.kind === "rejected") {
    const older = yield* olderOffer(client, first, silent);
    if (older !== undefined) return older;
  }
  if (first.kind === "rejected" || reading.kind === "other") return failure({ kind: "probe", probe: first });
  return refused(reading.error, OFFERED);
}

/** One more `initialize`, with a version that the server says it supports. */
function* otherVersion(
  client: ClientIdentity,
  error: JsonRpcErrorObject | undefined,
  named: readonly unknown[],
): Opening {
  const other = otherHandshake(named);
  if (other === undefined) return failure({ kind: "version", offered: OFFERED, answered: listed(named), named });
  const step = initialize(client, OTHER_VERSION_ID, other);
  // Many servers of both kinds refuse `initialize` on a connection that began with another request.
  const reading = read(yield* again(error === undefined ? { ...step, fresh: true } : step));
  if (reading.kind === "result") return yield* accept(client, reading.result, other);
  if (reading.kind === "error") return refused(reading.error, other);
  return failure({ kind: "version", offered: OFFERED, answered: listed(named), named });
}

/**
 * One more `initialize`, in the words of the revision before: some servers refuse to read what the newest one has brought, or
 * refuse its name and name others only in their words. Where they name none, the older ones are offered in turn.
 */
function* olderOffer(
  client: ClientIdentity,
  first: Probe,
  isGuess: boolean,
): Generator<OpeningStep, OpeningResult | undefined, Probe> {
  const said = first.kind === "reply" ? JSON.stringify(first.message) : first.kind === "rejected" ? first.body : "";
  const named = otherHandshake(REVISIONS.filter((revision) => said.includes(revision)));
  const others = OLDER.slice(0, /version/i.test(said) ? OLDER.length : 1);
  for (const [at, older] of (named === undefined ? others : [named]).entries()) {
    const probe = yield* again({ ...initialize(client, OLDER_ID + at, older), isGuess });
    const reading = read(probe);
    if (reading.kind === "result") return yield* accept(client, reading.result, older);
    if (reading.kind === "other" && !(probe.kind === "rejected" && refusesRequest(probe.status))) return undefined;
  }
  return undefined;
}

/** The server answered `initialize`: its version decides, then it is told that the client is ready. */
function* accept(
  client: ClientIdentity,
  result: Readonly<Record<string, unknown>>,
  offered: string,
  pin?: string,
): Opening {
  const answered = result["protocolVersion"];
  if (typeof answered !== "string") return failure({ kind: "version", offered, answered: null });
  const version = spokenFor(answered);
  if (version === SELF_DESCRIBING && pin === undefined) return yield* discover(client, true);
  if (!isHandshake(version) || (pin !== undefined && version !== pin))
    return failure({ kind: "version", offered, answered });
  const notice = { jsonrpc: "2.0", method: "notifications/initialized" } as const;
  const told = yield { message: notice, adopt: handshakeWire(version, false) };
  if (told.kind === "closed") return failure({ kind: "probe", probe: told });
  return { dialect: handshakeDialect(version, initializedIdentity(result), client) };
}

/** `server/discover`; after an `initialize` that failed, the old process may be gone. */
function* discover(client: ClientIdentity, afterFailure = false, isGuess = false): Opening {
  const step = { ...discoverStep(client, DISCOVER_ID), isGuess };
  let probe = afterFailure ? yield* again(step) : yield step;
  let reading = read(probe);
  // Versioning, Protocol Version Negotiation: a version that the server offers is tried, once.
  if (reading.kind === "error" && supportedVersions(reading.error)?.includes(SELF_DESCRIBING)) {
    probe = yield* again(discoverStep(client, DISCOVER_AGAIN_ID));
    reading = read(probe);
  }
  if (reading.kind === "other") return failure({ kind: "probe", probe });
  if (reading.kind === "error") return refused(reading.error, SELF_DESCRIBING);
  const named = reading.result["supportedVersions"];
  if (Array.isArray(named) && !named.includes(SELF_DESCRIBING))
    return failure({ kind: "version", offered: SELF_DESCRIBING, answered: listed(named), named });
  const dialect = statelessDialect(client, discoveredIdentity(reading.result));
  const outcome = dialect.decode("server/discover", reading.result);
  return outcome.kind === "invalid" ? failure({ kind: "refused", rpcError: unreadable(outcome.reason) }) : { dialect };
}

/** Sends a message after a refusal; once more on a new connection if the server closed the old one, as some do when they refuse. */
function* again(step: OpeningStep): Generator<OpeningStep, Probe, Probe> {
  const probe = yield step;
  return probe.kind === "closed" && step.fresh !== true ? yield { ...step, fresh: true } : probe;
}

function initialize(client: ClientIdentity, id: number, version: string): OpeningStep {
  const capabilities = declarable(client.capabilities, version);
  const params = { protocolVersion: version, capabilities, clientInfo: client.info };
  return { message: { jsonrpc: "2.0", id, method: "initialize", params } };
}

function discoverStep(client: ClientIdentity, id: number): OpeningStep {
  const message = statelessRequest(client, id, "server/discover", {});
  return { message, adopt: statelessWire(), headers: mirrorHeaders(message) };
}

/** The body of an HTTP refusal holds one answer, so only the first message counts. */
const FIRST_ALONE = { batchElements: 1, nestedLevels: LIMITS.nestedLevels };

type Reading =
  | { readonly kind: "result"; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: "error"; readonly error: JsonRpcErrorObject }
  | { readonly kind: "other" };

/** The JSON-RPC answer in a probe, whether it came as a message or as the body of an HTTP refusal. */
function read(probe: Probe): Reading {
  if (probe.kind === "reply") {
    const { message } = probe;
    if (!isResponse(message)) return { kind: "other" };
    if (isFailure(message)) return { kind: "error", error: message.error };
    return isObject(message.result)
      ? { kind: "result", result: message.result }
      : { kind: "error", error: unreadable("the result is not an object") };
  }
  if (probe.kind !== "rejected" || !refusesRequest(probe.status)) return { kind: "other" };
  const [message] = parseMessages(probe.body, FIRST_ALONE) ?? [];
  if (message !== undefined && isResponse(message) && isFailure(message))
    return { kind: "error", error: message.error };
  return { kind: "other" };
}

/** Whether an HTTP status refuses the request itself, rather than its authorization or its rate. */
function refusesRequest(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 408 && status !== 429;
}

/** The error that stands for an unusable answer. */
function unreadable(message: string): JsonRpcErrorObject {
  return { code: 0, message };
}

function initializedIdentity(result: Readonly<Record<string, unknown>>): ServerIdentity {
  const { serverInfo, capabilities, instructions } = result;
  return {
    ...(isObject(serverInfo) ? { info: serverInfo } : {}),
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}

/** What the server says it supports, where it refuses for the version's sake. */
export function supportedVersions(error: JsonRpcErrorObject): readonly unknown[] | undefined {
  const supported = isObject(error.data) ? error.data["supported"] : undefined;
  if (Array.isArray(supported)) return supported;
  return error.code === UNSUPPORTED_PROTOCOL_VERSION ? [] : undefined;
}

/**
 * A refusal that is no JSON-RPC error, and yet names the revision without a handshake; or one of a gateway, which says in no
 * set words that it misses the headers of that revision (Streamable HTTP, Server Validation).
 */
function mayBeSelfDescribing(probe: Probe): boolean {
  if (probe.kind !== "rejected" || !refusesRequest(probe.status)) return false;
  return probe.status === BAD_REQUEST || probe.body.includes(SELF_DESCRIBING);
}

const LISTED = 10;
const LISTED_CHARACTERS = 20;

/** Versions as a server names them, in reasonable number and length. */
export function listed(versions: readonly unknown[]): string {
  const words = versions.filter((version) => typeof version === "string").slice(0, LISTED);
  return words.map((version) => cut(version, LISTED_CHARACTERS)).join(", ");
}

function refused(error: JsonRpcErrorObject, offered: string): OpeningResult {
  const named = supportedVersions(error);
  if (named !== undefined) return failure({ kind: "version", offered, answered: listed(named), named });
  return failure({ kind: "refused", rpcError: error });
}

function failure(reason: OpeningFailure): OpeningResult {
  return { failure: reason };
}
