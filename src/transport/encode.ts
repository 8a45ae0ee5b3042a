import { AdapterError, reasonOf } from "../errors.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";

/**
 * The JSON text of a message of ours.
 * @throws AdapterError `params.invalid`: cycles, BigInts and endless nesting have none; only an embedding program can give them.
 */
export function encodeMessage(message: JsonRpcMessage): string {
  try {
    const text = JSON.stringify(message);
    // Half a character has no UTF-8 form and is written as such an escape, which servers in Python and Rust cannot read, nor answer.
    return text.includes("\\ud") ? JSON.stringify(message, withoutHalves) : text;
  } catch (error) {
    const tool = labelOf(message);
    throw new AdapterError("params.invalid", { tool, path: "", reason: `cannot be sent as JSON (${reasonOf(error)})` });
  }
}

function withoutHalves(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** The name of a message in errors: its method. */
export function labelOf(message: JsonRpcMessage): string {
  return "method" in message ? message.method : "an answer";
}

/** It opens the session: neither the revision nor a session is known before it is answered. */
export function isInitialize(message: JsonRpcMessage): boolean {
  return "method" in message && message.method === "initialize";
}
