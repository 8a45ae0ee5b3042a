import { alarm } from "../alarm.ts";
import { Cancellation } from "../cancellation.ts";
import { defined } from "../defined.ts";
import { AdapterError, isSituation } from "../errors.ts";
import { MODEL_WORDS } from "../messages.ts";
import { isResponse, type JsonRpcResponse, parseMessages, type RequestId } from "../protocol/jsonrpc.ts";
import { headersOfDeclared } from "../protocol/stateless.ts";
import type { ServerSpec } from "../server-spec.ts";
import { forRequest } from "../session/request-error.ts";
import { transportFactory } from "../transport/create.ts";
import type { ToolContext } from "./tool.ts";

/** The status with which servers that keep sessions refuse a request without a handshake. */
const BAD_REQUEST = 400;
const NO_SIGN_IN =
  "A raw request does not sign in, and carries no headers of an entry: configure the server and give its name instead.";

export interface RawRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly timeoutMs: number;
}

/** One HTTP exchange without handshake, session or managed connection: for diagnostics. The whole JSON-RPC response. */
export async function rawExchange(
  spec: ServerSpec,
  request: RawRequest,
  { runtime, cancellation, mayRun }: ToolContext,
): Promise<JsonRpcResponse> {
  const { id, method, params, timeoutMs } = request;
  const server = spec.name;
  const { create } = transportFactory(spec, { limits: runtime.limits, redactor: runtime.redactor });
  const transport = create();
  let response: JsonRpcResponse | undefined;
  const givenUp = new Cancellation();
  const release = cancellation.onCancel(() => givenUp.cancel());
  let timedOut = false;
  let outcomeUnknown = false;
  const callOff = alarm(timeoutMs, () => {
    timedOut = true;
    givenUp.cancel();
  });
  try {
    await transport.open({
      message: (raw) => {
        const messages = parseMessages(raw.toString(), runtime.limits);
        response ??= messages?.find(
          (message): message is JsonRpcResponse => isResponse(message) && answers(message, id),
        );
        return messages !== undefined;
      },
      closed: () => undefined,
    });
    const message = { jsonrpc: "2.0", id, method, ...defined({ params }) } as const;
    const headers = headersOfDeclared(message);
    await transport.send(message, {
      headers,
      cancellation: givenUp,
      answered: () => response !== undefined,
      mayRun: (may) => {
        outcomeUnknown = may;
        mayRun(may);
      },
    });
  } catch (error) {
    if (cancellation.cancelled) throw new AdapterError("cancelled", { server });
    if (timedOut)
      throw new AdapterError("timeout", {
        server,
        method,
        phase: "call",
        seconds: timeoutMs / 1000,
        outcomeUnknown,
      });
    if (isSituation(error, "http.status") && error.details.status === BAD_REQUEST)
      throw new AdapterError("http.status", { ...error.details, hint: MODEL_WORDS.handshake });
    if (isSituation(error, "auth.required"))
      throw new AdapterError("auth.required", { ...error.details, method, hint: NO_SIGN_IN });
    throw forRequest(error, method, true);
  } finally {
    callOff();
    release();
    void transport.close();
  }
  if (response !== undefined) return response;
  throw new AdapterError("protocol.noAnswer", { server, method, outcomeUnknown: true });
}

/** An error whose id could not be read answers the only request there was. */
function answers(response: JsonRpcResponse, id: RequestId): boolean {
  return String(response.id) === String(id) || (response.id === null && "error" in response);
}
