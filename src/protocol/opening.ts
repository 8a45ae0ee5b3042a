import type { ClientIdentity, Opening, OpeningFailure, OpeningResult, OpeningStep, Probe, ServerIdentity } from "./dialect.ts";
import { handshakeDialect, handshakeWire } from "./handshake.ts";
import {
  isFailure,
  isObject,
  isResponse,
  type JsonRpcErrorObject,
  type JsonRpcRequest,
  parseMessages,
  UNSUPPORTED_PROTOCOL_VERSION,
} from "./jsonrpc.ts";
import { discoveredIdentity, statelessDialect, statelessRequest, statelessWire } from "./stateless.ts";
import { bestHandshake, isHandshake, OFFERED, SELF_DESCRIBING } from "./versions.ts";

/** Ids of the opening's own requests; the session counts on from its last. */
export const INITIALIZE_ID = 1;
export const RETRY_ID = 2;
export const DISCOVER_ID = 3;

/**
 * Finds out how to speak with a server. `pin` is `auto` or the one revision that is accepted; `hint` is what this server
 * spoke last time, to be tried first. Versioning and Compatibility of 2026-07-28; Lifecycle of the earlier revisions.
 * `initialize` goes first: servers of both kinds answer it, while many refuse it after a `server/discover`.
 */
export function* negotiate(client: ClientIdentity, pin: string, hint?: string): Opening {
  if (pin === SELF_DESCRIBING) return yield* discover(client, false);
  if (pin === "auto" && hint === SELF_DESCRIBING) {
    const learnt = yield* discover(client, false);
    if ("dialect" in learnt) return learnt;
    return yield* handshake(client, OFFERED, false, true);
  }
  return yield* handshake(client, pin === "auto" ? OFFERED : pin, pin !== "auto", false);
}

function* handshake(client: ClientIdentity, offered: string, pinned: boolean, fresh: boolean): Opening {
  const first = yield initialize(client, INITIALIZE_ID, offered, fresh);
  const reading = read(first);
  if (reading.kind === "result") return yield* accept(reading.result, offered, pinned);
  if (reading.kind === "other") return failure({ kind: "probe", probe: first });
  if (pinned) return failure({ kind: "refused", reason: words(reading.error), rpcError: reading.error });

  const supported = supportedVersions(reading.error);
  const other = supported && bestHandshake(supported, new Set([offered]));
  if (supported && !supported.includes(SELF_DESCRIBING)) {
    if (other === undefined) return failure({ kind: "version", offered, answered: String(supported[0] ?? "") });
    const second = yield initialize(client, RETRY_ID, other, false);
    const again = read(second);
    if (again.kind === "result") return yield* accept(again.result, other, false);
    return failure({ kind: "refused", reason: again.kind === "error" ? words(again.error) : "no usable answer" });
  }

  const forward = yield* discover(client, true);
  if ("dialect" in forward) return forward;
  // The first refusal says more than the failed second guess, unless the server named versions only in the second.
  if (forward.failure.kind === "version") return forward;
  if (first.kind === "rejected") return failure({ kind: "probe", probe: first });
  return failure({ kind: "refused", reason: words(reading.error), rpcError: reading.error });
}

/** The server answered `initialize`: its version decides, then it is told that the client is ready. */
function* accept(result: Readonly<Record<string, unknown>>, offered: string, pinned: boolean): Opening {
  const version = result["protocolVersion"];
  if (typeof version !== "string") return failure({ kind: "version", offered, answered: null });
  if (!isHandshake(version) || (pinned && version !== offered)) return failure({ kind: "version", offered, answered: version });
  const notice = { jsonrpc: "2.0", method: "notifications/initialized" } as const;
  const told = yield { message: notice, adopt: handshakeWire(version) };
  if (told.kind === "closed") return failure({ kind: "probe", probe: told });
  return { dialect: handshakeDialect(version, initializedIdentity(result)) };
}

function* discover(client: ClientIdentity, retryFresh: boolean): Opening {
  let probe = yield discoverStep(client, false);
  if (retryFresh && probe.kind === "closed") probe = yield discoverStep(client, true);
  const reading = read(probe);
  if (reading.kind === "other") return failure({ kind: "probe", probe });
  if (reading.kind === "error") return yield* settleVersion(client, reading.error, retryFresh);
  const supported = reading.result["supportedVersions"];
  if (Array.isArray(supported) && !supported.includes(SELF_DESCRIBING))
    return failure({ kind: "version", offered: SELF_DESCRIBING, answered: String(supported[0] ?? "") });
  return { dialect: statelessDialect(client, discoveredIdentity(reading.result)) };
}

/** `UnsupportedProtocolVersion` names what the server speaks; one of those is tried once, unless `initialize` has failed already. */
function* settleVersion(client: ClientIdentity, error: JsonRpcErrorObject, initializeFailed: boolean): Opening {
  const supported = supportedVersions(error);
  if (supported === undefined) return failure({ kind: "refused", reason: words(error), rpcError: error });
  const other = initializeFailed ? undefined : bestHandshake(supported, new Set());
  if (other === undefined) return failure({ kind: "version", offered: SELF_DESCRIBING, answered: String(supported[0] ?? "") });
  // Many servers of both kinds refuse `initialize` on a connection that began with another request.
  const probe = yield initialize(client, RETRY_ID, other, true);
  const reading = read(probe);
  if (reading.kind === "result") return yield* accept(reading.result, other, false);
  return failure({ kind: "version", offered: SELF_DESCRIBING, answered: other });
}

function initialize(client: ClientIdentity, id: number, version: string, fresh: boolean): OpeningStep {
  const params = { protocolVersion: version, capabilities: client.capabilities, clientInfo: client.info };
  const message: JsonRpcRequest = { jsonrpc: "2.0", id, method: "initialize", params };
  return { message, ...(fresh ? { fresh } : {}) };
}

function discoverStep(client: ClientIdentity, fresh: boolean): OpeningStep {
  const message = statelessRequest(client, DISCOVER_ID, "server/discover", {});
  const step: OpeningStep = { message, adopt: statelessWire(), headers: { "Mcp-Method": "server/discover" } };
  return fresh ? { ...step, fresh } : step;
}

type Reading =
  | { readonly kind: "result"; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: "error"; readonly error: JsonRpcErrorObject }
  | { readonly kind: "other" };

/** What a probe says, whether the answer came as a message or as the body of a refusal. */
function read(probe: Probe): Reading {
  if (probe.kind === "reply") {
    const { message } = probe;
    if (!isResponse(message)) return { kind: "other" };
    if (isFailure(message)) return { kind: "error", error: message.error };
    return isObject(message.result) ? { kind: "result", result: message.result } : { kind: "error", error: NO_OBJECT };
  }
  if (probe.kind !== "rejected" || !refusesRequest(probe.status)) return { kind: "other" };
  const [message] = parseMessages(probe.body, 1) ?? [];
  if (message !== undefined && isResponse(message) && isFailure(message)) return { kind: "error", error: message.error };
  return { kind: "other" };
}

/** A refusal of the request itself, not of who sent it or how often. */
function refusesRequest(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 408 && status !== 429;
}

const NO_OBJECT: JsonRpcErrorObject = { code: 0, message: "the result is not an object" };

function initializedIdentity(result: Readonly<Record<string, unknown>>): ServerIdentity {
  const { serverInfo, capabilities, instructions } = result;
  return {
    ...(isObject(serverInfo) ? { info: serverInfo } : {}),
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}

function supportedVersions(error: JsonRpcErrorObject): readonly unknown[] | undefined {
  const supported = isObject(error.data) ? error.data["supported"] : undefined;
  if (Array.isArray(supported)) return supported;
  return error.code === UNSUPPORTED_PROTOCOL_VERSION ? [] : undefined;
}

function words(error: JsonRpcErrorObject): string {
  return `error ${error.code}: ${error.message}`;
}

function failure(reason: OpeningFailure): OpeningResult {
  return { failure: reason };
}
