import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";

/** The response to a request that the server has sent (ping, roots, sampling, elicitation). */
export type InputAnswer = { readonly result: unknown } | { readonly error: JsonRpcErrorObject };

/** The JSON-RPC error response to such a request. */
export function errorAnswer(code: number, message: string): InputAnswer {
  return { error: { code, message } };
}
