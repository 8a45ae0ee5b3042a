import type { AgentToolResult } from "../contract.ts";
import { AdapterError, isSituation } from "../errors.ts";
import { INVALID_PARAMS, isObject } from "../protocol/jsonrpc.ts";
import type { Redactor } from "../redactor.ts";
import type { Connection } from "../runtime/connection.ts";
import type { Target } from "../runtime/target.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type CallOptions, call } from "../session/call.ts";
import type { Item } from "../session/catalog.ts";
import type { ProgressReport } from "../session/pending.ts";
import { guardError } from "./guard.ts";
import { withoutNestedJson } from "./nested-json.ts";
import { signature } from "./signature.ts";
import type { ToolContext } from "./tool.ts";
import { isHidden, unknownTool } from "./visibility.ts";

const TASKS = "tasks";

export interface Invocation {
  readonly target: Target;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** `_meta` of a caller that sends the request itself. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** From `timeoutSeconds`. */
  readonly timeoutMs: number | undefined;
}

export interface Invoked {
  readonly spec: ServerSpec;
  readonly item: Item;
  /** The MCP result, untouched. */
  readonly result: unknown;
}

/**
 * Calls one tool once: discovers anew, refuses what the server does not have or the entry hides, asks for approval, sends.
 * Whatever happens after that, it is not sent again.
 */
export async function invoke(
  { target, tool, args: given, meta, timeoutMs }: Invocation,
  context: ToolContext,
): Promise<Invoked> {
  const { runtime, scope, cancellation } = context;
  const spec = await runtime.settings.resolve(scope, target);
  const silenceMs = silence(spec, timeoutMs, context);
  const waiting = runtime.tellOfSignIn(scope, spec, context);
  let held: Connection | undefined;
  let called: Item | undefined;
  try {
    const { connection, catalog } = await runtime.discover(scope, spec, "tools", {
      target,
      timeoutMs: silenceMs,
      cancellation,
    });
    held = connection;
    const item = catalog.items.get(tool);
    if (item === undefined || isHidden(spec, tool)) throw unknownTool(spec, tool, catalog);
    if (runsOnlyAsTask(item, connection))
      throw new AdapterError("tool.task", { server: spec.name, tool, capability: TASKS });
    const args = withoutNestedJson(given, item["inputSchema"]);
    if (runtime.approval.asks(scope, spec, tool))
      await runtime.approval.call(scope, spec.name, { tool, args, annotations: item["annotations"] }, cancellation);
    const params = meta === undefined ? { name: tool, arguments: args } : { name: tool, arguments: args, _meta: meta };
    const options = callOptions(spec, silenceMs, context);
    called = item;
    return { spec, item, result: await call(connection, "tools/call", params, options, item["inputSchema"]) };
  } catch (error) {
    throw await guardError(called === undefined ? error : withTakes(error, called), spec, context);
  } finally {
    held?.release();
    waiting?.end();
  }
}

/** Adds the tool's signature to an "invalid params" error, so that the model can correct its call at once. */
function withTakes(error: unknown, item: Item): unknown {
  if (!isSituation(error, "rpc.error") || error.details.rpcError.code !== INVALID_PARAMS) return error;
  return new AdapterError("rpc.error", { ...error.details, takes: signature(item) || "nothing" });
}

/**
 * Whether a plain request for the tool would be refused. What a tool says of tasks counts only where the server offers
 * them (Tasks, Tool-Level Negotiation).
 */
function runsOnlyAsTask({ execution }: Item, { session }: Connection): boolean {
  if (!isObject(execution) || execution["taskSupport"] !== "required") return false;
  const tasks = session.dialect.server.capabilities[TASKS];
  const requests = isObject(tasks) ? tasks["requests"] : undefined;
  return isObject(requests) && isObject(requests["tools"]) && requests["tools"]["call"] !== undefined;
}

/** The timeouts of one request with side effects, and where its progress is shown. */
export function callOptions(spec: ServerSpec, timeoutMs: number, context: ToolContext): CallOptions {
  const { partial, cancellation, mayRun, runtime } = context;
  const total = (spec.maxTotalSeconds ?? runtime.limits.defaultTotalSeconds) * 1000;
  return {
    timeoutMs,
    totalMs: Math.max(timeoutMs, total),
    cancellation,
    effects: true,
    mayRun,
    onProgress: (report) => partial(progressPartial(report, runtime.redactor)),
  };
}

/** The idle timeout of a step's requests in milliseconds: the caller's, else the entry's, else the default. */
export function silence(spec: ServerSpec, timeoutMs: number | undefined, { runtime }: ToolContext): number {
  return timeoutMs ?? (spec.timeoutSeconds ?? runtime.limits.defaultTimeoutSeconds) * 1000;
}

function progressPartial(report: ProgressReport, redactor: Redactor): AgentToolResult {
  const shown = redactor.data(report);
  const { progress, total, message } = shown;
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return {
    content: [{ type: "text", text: message === undefined ? count : `${count} ${message}` }],
    details: { progress: shown },
  };
}
