import type { AgentToolResult } from "../contract.ts";
import { cut } from "../cut.ts";
import { AdapterError } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { isServerRequest } from "../protocol/versions.ts";
import type { Connection } from "../runtime/connection.ts";
import type { Target } from "../runtime/target.ts";
import type { ServerSpec } from "../server-spec.ts";
import { call } from "../session/call.ts";
import { guardError, guardOptions, guardText } from "./guard.ts";
import { callOptions, invoke, silence } from "./invoke.ts";
import { ParamReader } from "./params.ts";
import { rawExchange } from "./raw-exchange.ts";
import { renderResult, withoutBase64 } from "./render.ts";
import type { ToolContext } from "./tool.ts";
import { isErrorResult, toolError } from "./tool-error.ts";

const ID_CHARACTERS = 200;

/** What `mcp_request` does. @throws AdapterError */
export async function mcpRequest(
  params: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<AgentToolResult> {
  const { runtime, scope } = context;
  const read = new ParamReader("mcp_request", params, runtime.limits);
  const target = read.target();
  read.requireTarget(target);
  const method = read.name("method");
  if (method === undefined) throw read.fail("method", "is missing", "For example resources/read.");
  const given = read.objectIfGiven("params");
  const sent = given ?? {};
  const id = requestId(params["id"], read);
  const timeoutMs = read.timeoutMs();

  if (target.url !== undefined) {
    const spec = await runtime.settings.resolve(scope, target);
    await approveRaw(spec, method, sent, context);
    const request = { id, method, params: given, timeoutMs: silence(spec, timeoutMs, context) };
    const response = await rawExchange(spec, request, context).catch(async (error: unknown) => {
      throw await guardError(error, spec, context);
    });
    return answer(spec, { ...response }, context);
  }
  refuse(method);
  if (method === "tools/call") return toolsCall(target, sent, timeoutMs, context);
  return managed(target, { method, params: sent, timeoutMs }, context);
}

/** The approvals of a raw request: for the server, and for a `tools/call` the same as `mcp_call` needs. */
async function approveRaw(
  spec: ServerSpec,
  method: string,
  { name, arguments: args }: Readonly<Record<string, unknown>>,
  { runtime: { approval, limits }, scope, cancellation }: ToolContext,
): Promise<void> {
  await approval.start(scope, spec, cancellation);
  if (method !== "tools/call") return;
  const tool = cut(typeof name === "string" ? name : (JSON.stringify(name) ?? ""), limits.nameCharacters);
  if (approval.asks(scope, spec, tool)) await approval.call(scope, spec.name, { tool, args }, cancellation);
}

function requestId(value: unknown, read: ParamReader): string | number {
  if (value === undefined || value === null || value === "") return 1;
  if (typeof value === "string" && value.length <= ID_CHARACTERS) return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw read.fail("id", `must be a string of 1-${ID_CHARACTERS} characters or an integer`);
}

/** Refuses methods that make no sense on a connection that the adapter manages. */
function refuse(method: string): void {
  const refused = (reason: string): AdapterError => new AdapterError("method.refused", { method, reason });
  if (method === "initialize") throw refused("the adapter already did it for this connection");
  if (method.startsWith("notifications/")) throw refused("it is a notification, and nothing would answer it");
  if (method === "resources/subscribe" || method === "resources/unsubscribe" || method === "subscriptions/listen")
    throw refused("nothing could deliver what it subscribes to; read the resource again instead");
  if (isServerRequest(method)) throw refused("only servers send it");
}

/** Exactly as mcp_call: rediscovery, filters, approval, never twice. */
async function toolsCall(
  target: Target,
  sent: Readonly<Record<string, unknown>>,
  timeoutMs: number | undefined,
  context: ToolContext,
): Promise<AgentToolResult> {
  const read = new ParamReader("mcp_request", sent, context.runtime.limits, "params.");
  const tool = read.name("name");
  if (tool === undefined) throw read.fail("name", "is missing", "Name a tool of the server.");
  const args = read.object("arguments");
  const meta = isObject(sent["_meta"]) ? sent["_meta"] : undefined;
  const invoked = await invoke({ target, tool, args, meta, timeoutMs }, context);
  const { spec, result } = invoked;
  if (!isErrorResult(result)) return answer(spec, result, context);
  throw await toolError(tool, invoked, renderResult(result, context.runtime.limits), context);
}

interface Managed {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number | undefined;
}

async function managed(
  target: Target,
  { method, params, timeoutMs }: Managed,
  context: ToolContext,
): Promise<AgentToolResult> {
  const { runtime, scope, cancellation } = context;
  const spec = await runtime.settings.resolve(scope, target);
  const silenceMs = silence(spec, timeoutMs, context);
  const waiting = runtime.tellOfSignIn(scope, spec, context);
  let held: Connection | undefined;
  try {
    const { connection } = await runtime.connect(scope, spec, { target, timeoutMs: silenceMs, cancellation });
    held = connection;
    connection.hold();
    const { session, protocolVersion } = connection;
    if (!session.dialect.knows(method))
      throw new AdapterError("method.missing", { server: spec.name, method, protocolVersion });
    const options = callOptions(spec, silenceMs, context);
    const result = await call(connection, method, params, options);
    return await answer(spec, result, context);
  } catch (error) {
    throw await guardError(error, spec, context);
  } finally {
    held?.release();
    waiting?.end();
  }
}

async function answer(spec: ServerSpec, result: unknown, context: ToolContext): Promise<AgentToolResult> {
  const text = await guardText(JSON.stringify(result, withoutBase64) ?? "null", guardOptions(spec, context));
  return { content: [{ type: "text", text }], details: isObject(result) ? result : { result } };
}
