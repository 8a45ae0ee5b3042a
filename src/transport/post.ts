import { AdapterError } from "../errors.ts";
import { headerFlaw } from "../protocol/header-syntax.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import type { HttpClient } from "./client.ts";
import { encodeMessage, isInitialize, labelOf } from "./encode.ts";
import type { HttpRequest } from "./pool.ts";
import type { SendOptions } from "./transport.ts";

const NONE: ReadonlySet<string> = new Set();

/**
 * The POST request for one message, with the constant headers of the connection; `initialize` carries neither version nor session id.
 * @throws AdapterError `limit.outgoing`, `header.message`; nothing was sent then.
 */
export function postOf(
  client: HttpClient,
  path: string,
  message: JsonRpcMessage,
  constant: readonly string[],
  options: SendOptions,
): HttpRequest {
  const { server, limits } = client;
  const body = encodeMessage(message);
  const bytes = Buffer.byteLength(body);
  const label = labelOf(message);
  if (bytes > limits.messageBytes)
    throw new AdapterError("limit.outgoing", { server, method: label, bytes, limitBytes: limits.messageBytes });
  const { headers } = options;
  const all = isInitialize(message) ? client.headers.post.slice() : constant.slice();
  all.push("Content-Length", String(bytes));
  if (headers !== undefined) {
    for (const [name, value] of Object.entries(headers)) {
      const flaw = headerFlaw(name, value, NONE);
      if (flaw !== undefined) throw new AdapterError("header.message", { server, header: name, reason: flaw });
      all.push(name, value);
    }
  }
  const idleMs = options.fresh ? 0 : options.once ? limits.trustedIdleMs : undefined;
  return {
    method: "POST",
    path,
    headers: all,
    body,
    label,
    cancel: options.cancellation,
    sender: options,
    idleMs,
    quiet: options.quiet,
  };
}
