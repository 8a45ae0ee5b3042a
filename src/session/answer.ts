import { AdapterError } from "../errors.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";

const MESSAGE_CHARACTERS = 4000;
const DATA_CHARACTERS = 4000;

/** A server's JSON-RPC error as ours; its data is cut. */
export function rpcError(server: string, method: string, { code, message, data }: JsonRpcErrorObject): AdapterError {
  const text = message.length > MESSAGE_CHARACTERS ? `${message.slice(0, MESSAGE_CHARACTERS)}…` : message;
  return new AdapterError("rpc.error", { server, method, rpcError: { code, message: text, ...(data === undefined ? {} : { data: cut(data) }) } });
}

function cut(data: unknown): unknown {
  const json = JSON.stringify(data);
  return json !== undefined && json.length > DATA_CHARACTERS ? `${json.slice(0, DATA_CHARACTERS)}… (${json.length} characters)` : data;
}
