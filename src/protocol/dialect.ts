import type { JsonRpcMessage, JsonRpcRequest, RequestId } from "./jsonrpc.ts";

/** The transport features that a dialect needs; passed once to `Transport.adopt`. */
export interface Wire {
  /** The revision to name in `MCP-Protocol-Version` on every request from now on; servers of revisions before the header pass it over. */
  readonly versionHeader: string;
  /** Keep and send `Mcp-Session-Id`, and end it with DELETE. */
  readonly sessions: boolean;
  /** A broken response stream may be resumed by GET with `Last-Event-ID`. */
  readonly resumable: boolean;
  /** The server may send requests outside of any response stream: a GET stream is kept open for them during calls. */
  readonly listens: boolean;
}

/** The meaning of a result: the final one, or a request for input that a new request must carry the answer to. */
export type Outcome =
  | { readonly kind: "complete"; readonly result: unknown }
  | { readonly kind: "input_required"; readonly requests: Readonly<Record<string, unknown>>; readonly state?: string }
  | { readonly kind: "invalid"; readonly reason: string };

export interface ServerIdentity {
  /** As the server sent it; absent if it did not. */
  readonly info?: Readonly<Record<string, unknown>>;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions?: string;
}

/** One variant of the protocol, chosen when a connection opens. Pure: it turns values into messages and back, and does no I/O. */
export interface Dialect {
  readonly version: string;
  readonly server: ServerIdentity;
  readonly wire: Wire;
  /** The method of a liveness check. */
  readonly aliveMethod: string;
  encode(
    id: RequestId,
    method: string,
    params: Readonly<Record<string, unknown>>,
    options?: EncodeOptions,
  ): JsonRpcRequest;
  /** HTTP headers that mirror the message; `inputSchema` is that of the called tool. */
  headers(message: JsonRpcMessage, inputSchema?: unknown): Readonly<Record<string, string>>;
  decode(method: string, result: unknown): Outcome;
  /** The notification that cancels a request; nothing where closing the request's own stream does that. */
  cancelNotice(id: RequestId, reason: string, ownStream: boolean): JsonRpcMessage | undefined;
  /** Whether this revision knows the method as a client's request. */
  knows(method: string): boolean;
  /** Whether the server may send us this as a request. */
  serverMayAsk(method: string): boolean;
  /** Why a tool with this schema cannot be called over HTTP; `undefined` if it can. */
  refuseTool(inputSchema: unknown): string | undefined;
}

export interface EncodeOptions {
  readonly progressToken?: RequestId;
}

/** What the client declares of itself in the handshake. */
export interface ClientIdentity {
  readonly info: { readonly name: string; readonly version: string; readonly title?: string };
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Ask for log messages of this level, where a request has to ask. */
  readonly logLevel?: string;
}
