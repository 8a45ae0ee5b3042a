import type { AgentToolResult } from "../contract.ts";
import { AdapterError } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Connection } from "../runtime/connection.ts";
import { matchesAny } from "../runtime/patterns.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type CallOptions, call } from "../session/call.ts";
import type { Item } from "../session/catalog.ts";
import type { ProgressReport } from "../session/pending.ts";
import { nearNames } from "./text.ts";
import type { ToolContext } from "./tool.ts";

const NEAR_NAMES = 5;

export interface Invocation {
  readonly spec: ServerSpec;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** `_meta` of a caller that sends the request itself. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** From `timeoutSeconds`. */
  readonly timeoutMs: number | undefined;
}

export interface Invoked {
  readonly connection: Connection;
  readonly item: Item;
  /** The MCP result, untouched. */
  readonly result: unknown;
}

/**
 * Calls one tool once: discovers anew, refuses what the server does not have or the entry hides, asks for approval, sends.
 * Whatever happens after that, it is not sent again.
 */
export async function invoke({ spec, tool, args, meta, timeoutMs }: Invocation, context: ToolContext): Promise<Invoked> {
  const { runtime, scope, cancellation } = context;
  const times = callTimes(spec, timeoutMs, context);
  const onNotice = (notice: string): void => context.partial({ content: [{ type: "text", text: notice }] });
  const { connection, catalog } = await runtime.discover(scope, spec, "tools", { timeoutMs: times.timeoutMs, cancellation, onNotice });
  const item = catalog.items.get(tool);
  if (item === undefined || isHidden(spec, tool)) throw unknownTool(spec, tool, catalog.items.keys(), catalog.leftOut, item !== undefined);
  await runtime.approval.call(scope, spec, tool, args, item["annotations"], cancellation);
  const params = { name: tool, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
  const release = runtime.onNotice(spec, onNotice);
  try {
    const options: CallOptions = { ...times, cancellation, effects: true, onProgress: (report) => context.partial(progressPartial(report)) };
    const result = await call(connection.session, connection.input, runtime.limits, "tools/call", params, options, item["inputSchema"]);
    return { connection, item, result };
  } catch (error) {
    // A session that the server has forgotten is of no use to the next call.
    if (error instanceof AdapterError && error.situation === "session.expired") runtime.registry.discard(scope, connection);
    throw error;
  } finally {
    release();
  }
}

/** Silence and total of one request: the caller's, else the entry's, else the defaults. */
export function callTimes(spec: ServerSpec, timeoutMs: number | undefined, { runtime }: ToolContext): { timeoutMs: number; totalMs: number } {
  const { limits } = runtime;
  const silence = timeoutMs ?? (spec.timeoutSeconds ?? limits.defaultTimeoutSeconds) * 1000;
  const total = (spec.maxTotalSeconds ?? limits.defaultTotalSeconds) * 1000;
  return { timeoutMs: silence, totalMs: Math.max(silence, total) };
}

export function isHidden({ includeTools, excludeTools }: ServerSpec, tool: string): boolean {
  if (includeTools !== undefined && !matchesAny(includeTools, tool)) return true;
  return excludeTools !== undefined && matchesAny(excludeTools, tool);
}

function unknownTool(
  spec: ServerSpec,
  tool: string,
  names: Iterable<string>,
  leftOut: readonly { readonly name?: string; readonly reason: string }[],
  hidden: boolean,
): AdapterError {
  const server = spec.name;
  if (hidden) return new AdapterError("tool.hidden", { server, tool });
  const bad = leftOut.find(({ name }) => name === tool);
  if (bad !== undefined) return new AdapterError("tool.badHeader", { server, tool, reason: bad.reason });
  const visible = [...names].filter((name) => !isHidden(spec, name));
  return new AdapterError("tool.unknown", { server, tool, near: nearNames(tool, visible, NEAR_NAMES), count: visible.length });
}

export function progressPartial(report: ProgressReport): AgentToolResult {
  const { progress, total, message } = report;
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return { content: [{ type: "text", text: message === undefined ? count : `${count} ${message}` }], details: { progress: { ...report } } };
}

/** Whether a result says of itself that the tool failed. */
export function isErrorResult(result: unknown): boolean {
  return isObject(result) && result["isError"] === true;
}
