import { defined } from "../defined.ts";
import type { Limits } from "../limits.ts";

export type RequestId = string | number;

export interface JsonRpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface JsonRpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface JsonRpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface JsonRpcResult {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  /** `undefined` in an answer that has neither a result nor an error. */
  readonly result: unknown;
}

export interface JsonRpcFailure {
  readonly jsonrpc: "2.0";
  /** `null` or absent where the other side could not read the id. */
  readonly id?: RequestId | null;
  readonly error: JsonRpcErrorObject;
}

export type JsonRpcResponse = JsonRpcResult | JsonRpcFailure;
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** 2025-11-25: a person has to visit the addresses in `data.elicitations` first. */
export const URL_ELICITATION_REQUIRED = -32042;
/** 2026-07-28: the server does not speak the requested revision; `data.supported` lists those it does. */
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

export type MessageLimits = Pick<Limits, "batchElements" | "nestedLevels">;

/**
 * The messages in one framed text: one, or the elements of a batch. `undefined` if it is not JSON or holds no message at all.
 * Shape decides, and only then ids: something with a `method` is never an answer.
 */
export function parseMessages(
  text: string,
  { batchElements, nestedLevels }: MessageLimits,
): readonly JsonRpcMessage[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the caller decides what that means on its transport.
  }
  // Each level takes two characters.
  if (text.length > 2 * nestedLevels) prune(value, nestedLevels);
  if (!Array.isArray(value)) {
    const message = asMessage(value);
    return message === undefined ? undefined : [message];
  }
  const messages: JsonRpcMessage[] = [];
  for (const element of value.slice(0, batchElements)) {
    const message = asMessage(element);
    if (message !== undefined) messages.push(message);
  }
  return messages.length === 0 ? undefined : messages;
}

const DEEP = "[nested too deeply]";

/** Cuts off what is nested more deeply: it would overflow the stack of whoever walks through it, the host included. */
function prune(value: unknown, levels: number): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (levels > 1) prune(value[at], levels - 1);
      else if (typeof value[at] === "object" && value[at] !== null) value[at] = DEEP;
    }
    return;
  }
  const members = value as Record<string, unknown>;
  for (const key in members) {
    if (levels > 1) prune(members[key], levels - 1);
    else if (typeof members[key] === "object" && members[key] !== null) members[key] = DEEP;
  }
}

function asMessage(value: unknown): JsonRpcMessage | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value["method"] === "string") {
    // Servers that have one class for all messages write null for what a message does not have.
    if (value["id"] === null) return asMessage({ ...value, id: undefined });
    return value["id"] === undefined || isId(value["id"]) ? (value as unknown as JsonRpcMessage) : undefined;
  }
  if (value["method"] !== undefined && value["method"] !== null) return undefined;
  const { id, result, error } = value;
  if (!isId(id) && value["jsonrpc"] !== "2.0") return undefined;
  if (error !== undefined && error !== null) return asFailure(id, error);
  if (!isId(id)) return undefined;
  // An answer with nothing in it still is the answer: its request must not wait for another.
  return result === undefined && value["jsonrpc"] !== "2.0" ? undefined : { jsonrpc: "2.0", id, result };
}

/** Errors come as strings, with missing codes and with object messages in the field; they are made regular here, once. */
function asFailure(id: unknown, error: unknown): JsonRpcFailure {
  const { code, message, data } = isObject(error) ? error : { message: error };
  return {
    jsonrpc: "2.0",
    id: isId(id) ? id : null,
    error: {
      code: typeof code === "number" && Number.isFinite(code) ? code : INTERNAL_ERROR,
      message: typeof message === "string" ? message : JSON.stringify(message ?? "no message"),
      ...defined({ data }),
    },
  };
}

/** The parameters of a request, with members added to their `_meta`. */
export function withMeta(
  params: Readonly<Record<string, unknown>>,
  added: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // In this order: what is added to a copy is written as JSON at half the speed.
  if (!Object.hasOwn(params, "_meta")) return { _meta: added, ...params };
  const own = params["_meta"];
  return { ...params, _meta: { ...(isObject(own) ? own : undefined), ...added } };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

export function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return "method" in message && "id" in message && message.id !== undefined;
}

export function isResponse(message: JsonRpcMessage): message is JsonRpcResponse {
  return !("method" in message);
}

export function isFailure(response: JsonRpcResponse): response is JsonRpcFailure {
  return "error" in response;
}
