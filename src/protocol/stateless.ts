import { cut } from "../cut.ts";
import { defined } from "../defined.ts";
import type { ClientIdentity, Dialect, EncodeOptions, Outcome, ServerIdentity, Wire } from "./dialect.ts";
import { cancelNotice } from "./handshake.ts";
import { headerProblem, mirrorHeaders } from "./headers.ts";
import { isObject, type JsonRpcRequest, type RequestId, withMeta } from "./jsonrpc.ts";
import { revisionKnows, SELF_DESCRIBING } from "./versions.ts";

const META = "io.modelcontextprotocol/";
const TYPE_CHARACTERS = 100;
const MAY_ASK_BACK: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** The dialect of 2026-07-28: stateless, every request carries version, client and capabilities in its `_meta`. */
export function statelessDialect(client: ClientIdentity, server: ServerIdentity): Dialect {
  return {
    version: SELF_DESCRIBING,
    server,
    wire: statelessWire(),
    aliveMethod: "server/discover",
    encode: (id, method, params, options) => statelessRequest(client, id, method, params, options),
    headers: mirrorHeaders,
    decode,
    cancelNotice: (id, reason, ownStream) => (ownStream ? undefined : cancelNotice(id, reason)),
    knows: (method) => revisionKnows(SELF_DESCRIBING, method),
    serverMayAsk: () => false,
    refuseTool: headerProblem,
  };
}

export function statelessWire(): Wire {
  return { versionHeader: SELF_DESCRIBING, sessions: false, resumable: false, listens: false };
}

export function statelessRequest(
  client: ClientIdentity,
  id: RequestId,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options?: EncodeOptions,
): JsonRpcRequest {
  const meta: Record<string, unknown> = {
    [`${META}protocolVersion`]: SELF_DESCRIBING,
    [`${META}clientInfo`]: client.info,
    [`${META}clientCapabilities`]: client.capabilities,
  };
  if (client.logLevel !== undefined) meta[`${META}logLevel`] = client.logLevel;
  if (options?.progressToken !== undefined) meta["progressToken"] = options.progressToken;
  return { jsonrpc: "2.0", id, method, params: withMeta(params, meta) };
}

/** The HTTP headers of a raw request, which the caller wrote: it needs those of this revision if its `_meta` names a revision. */
export function headersOfDeclared(message: JsonRpcRequest): Readonly<Record<string, string>> {
  const meta = message.params?.["_meta"];
  const revision = isObject(meta) ? meta[`${META}protocolVersion`] : undefined;
  return typeof revision === "string" ? { "MCP-Protocol-Version": revision, ...mirrorHeaders(message) } : {};
}

/** What a `server/discover` result says of the server. */
export function discoveredIdentity(result: Readonly<Record<string, unknown>>): ServerIdentity {
  const meta = result["_meta"];
  const info = isObject(meta) ? meta[`${META}serverInfo`] : undefined;
  return {
    ...(isObject(info) ? { info } : {}),
    capabilities: isObject(result["capabilities"]) ? result["capabilities"] : {},
    ...(typeof result["instructions"] === "string" ? { instructions: result["instructions"] } : {}),
  };
}

/** Basic, ResultType: absent means complete, unknown means invalid. */
function decode(method: string, result: unknown): Outcome {
  if (!isObject(result)) return { kind: "complete", result };
  const { resultType: type } = result;
  if (type === undefined || type === "complete") return { kind: "complete", result };
  if (type !== "input_required")
    return { kind: "invalid", reason: `unknown resultType ${cut(JSON.stringify(type), TYPE_CHARACTERS)}` };
  if (!MAY_ASK_BACK.has(method)) return { kind: "invalid", reason: `${method} may not ask for input` };
  return inputRequired(result);
}

function inputRequired(result: Readonly<Record<string, unknown>>): Outcome {
  const { inputRequests: requests, requestState: state } = result;
  if (requests !== undefined && !isObject(requests))
    return { kind: "invalid", reason: "inputRequests is not an object" };
  if (state !== undefined && typeof state !== "string")
    return { kind: "invalid", reason: "requestState is not a string" };
  if (requests === undefined && state === undefined)
    return { kind: "invalid", reason: "input_required without inputRequests and requestState" };
  return { kind: "input_required", requests: requests ?? {}, ...defined({ state }) };
}
