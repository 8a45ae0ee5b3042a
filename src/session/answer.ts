import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";

/** What a server is told in answer to a question of its own. */
export type InputAnswer = { readonly result: unknown } | { readonly error: JsonRpcErrorObject };

/** The answer to a question that cannot be answered. */
export function errorAnswer(code: number, message: string): InputAnswer {
  return { error: { code, message } };
}
