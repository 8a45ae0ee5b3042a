import type { ClientIdentity, Dialect, EncodeOptions, Outcome, ServerIdentity, Wire } from "./dialect.ts";
import { type JsonRpcMessage, type JsonRpcRequest, type RequestId, withMeta } from "./jsonrpc.ts";
import { handshakeServerMayAsk, revisionKnows } from "./versions.ts";

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** The dialect of every revision that begins with `initialize`; what differs between them is in `versions.ts`. */
export function handshakeDialect(version: string, server: ServerIdentity, client: ClientIdentity): Dialect {
  return {
    version,
    server,
    wire: handshakeWire(version, Object.keys(client.capabilities).length > 0),
    aliveMethod: "ping",
    encode,
    headers: () => NO_HEADERS,
    decode: (_method, result): Outcome => ({ kind: "complete", result }),
    cancelNotice,
    knows: (method) => revisionKnows(version, method),
    serverMayAsk: handshakeServerMayAsk,
    refuseTool: () => undefined,
  };
}

export function handshakeWire(version: string, listens: boolean): Wire {
  return { versionHeader: version, sessions: true, resumable: true, listens };
}

function encode(
  id: RequestId,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options?: EncodeOptions,
): JsonRpcRequest {
  if (options?.progressToken === undefined) return { jsonrpc: "2.0", id, method, params };
  return { jsonrpc: "2.0", id, method, params: withMeta(params, { progressToken: options.progressToken }) };
}

/** The specification forbids to cancel `initialize`; the opening never asks for it. */
export function cancelNotice(id: RequestId, reason: string): JsonRpcMessage {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } };
}
