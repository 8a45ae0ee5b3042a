import type { AgentToolResult } from "../contract.ts";
import { AdapterError } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Redactor } from "../redactor.ts";
import type { Connection } from "../runtime/connection.ts";
import { matchesAny } from "../runtime/patterns.ts";
import type { Target } from "../runtime/settings.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type CallOptions, call } from "../session/call.ts";
import type { Catalog, Item } from "../session/catalog.ts";
import type { ProgressReport } from "../session/pending.ts";
import { rank } from "./search.ts";
import { nearNames } from "./text.ts";
import type { ToolContext } from "./tool.ts";

const NEAR_NAMES = 5;
const ALIKE_NAMES = 3;
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
  { target, tool, args, meta, timeoutMs }: Invocation,
  context: ToolContext,
): Promise<Invoked> {
  const { runtime, scope, cancellation } = context;
  const spec = await runtime.settings.resolve(scope, target);
  const silenceMs = silence(spec, timeoutMs, context);
  const waiting = runtime.tellOfSignIn(scope, spec, context);
  let held: Connection | undefined;
  try {
    const { connection, catalog } = await runtime.discover(scope, spec, "tools", {
      timeoutMs: silenceMs,
      cancellation,
    });
    held = connection;
    const item = catalog.items.get(tool);
    if (item === undefined || isHidden(spec, tool)) throw unknownTool(spec, tool, catalog, item !== undefined);
    if (runsOnlyAsTask(item, connection))
      throw new AdapterError("tool.task", { server: spec.name, tool, capability: TASKS });
    if (runtime.approval.asks(spec, tool))
      await runtime.approval.call(scope, spec, tool, args, item["annotations"], cancellation);
    const params = meta === undefined ? { name: tool, arguments: args } : { name: tool, arguments: args, _meta: meta };
    const options = callOptions(spec, silenceMs, context);
    return { spec, item, result: await call(connection, "tools/call", params, options, item["inputSchema"]) };
  } finally {
    held?.release();
    waiting?.end();
  }
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

/** Silence and total of one request, and where its progress goes. */
export function callOptions(spec: ServerSpec, timeoutMs: number, context: ToolContext): CallOptions {
  const { partial, cancellation, runtime } = context;
  const total = (spec.maxTotalSeconds ?? runtime.limits.defaultTotalSeconds) * 1000;
  return {
    timeoutMs,
    totalMs: Math.max(timeoutMs, total),
    cancellation,
    effects: true,
    onProgress: (report) => partial(progressPartial(report, runtime.redactor)),
  };
}

/** Milliseconds of silence that end a step's requests: the caller's, else the entry's, else the default. */
export function silence(spec: ServerSpec, timeoutMs: number | undefined, { runtime }: ToolContext): number {
  return timeoutMs ?? (spec.timeoutSeconds ?? runtime.limits.defaultTimeoutSeconds) * 1000;
}

/** Whether the entry's `includeTools` and `excludeTools` keep the tool from everybody. */
export function isHidden({ includeTools, excludeTools }: ServerSpec, tool: string): boolean {
  if (includeTools !== undefined && !matchesAny(includeTools, tool)) return true;
  return excludeTools !== undefined && matchesAny(excludeTools, tool);
}

/** Why a tool, or one item of another list, that was named cannot be used. */
export function unknownTool(
  spec: ServerSpec,
  tool: string,
  { kind, items, leftOut }: Catalog,
  exists: boolean,
): AdapterError {
  const server = spec.name;
  if (exists) return new AdapterError("tool.hidden", { server, tool });
  const bad = leftOut.find(({ name }) => name === tool);
  if (bad !== undefined) return new AdapterError("tool.badHeader", { server, tool, reason: bad.reason });
  const visible = [...items].filter(([name]) => !isHidden(spec, name)).map(([name, item]) => ({ name, item }));
  const names = visible.map(({ name }) => name);
  // A name that was guessed often says the same in other words.
  const alike = rank(tool, visible).slice(0, ALIKE_NAMES);
  const near = new Set([...nearNames(tool, names, NEAR_NAMES), ...alike.map(({ name }) => name)]);
  return new AdapterError("tool.unknown", {
    server,
    kind,
    tool,
    near: [...near].slice(0, NEAR_NAMES),
    count: visible.length,
  });
}

function progressPartial(report: ProgressReport, redactor: Redactor): AgentToolResult {
  const { progress, total, message } = redactor.data(report);
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return {
    content: [{ type: "text", text: message === undefined ? count : `${count} ${message}` }],
    details: {
      progress: { progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) },
    },
  };
}

/** Whether a result says of itself that the tool failed. */
export function isErrorResult(result: unknown): boolean {
  return isObject(result) && result["isError"] === true;
}
