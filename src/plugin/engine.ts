import type { AgentToolResult, ToolName } from "../contract.ts";
import { Runtime, type RuntimeOptions } from "../runtime/runtime.ts";
import type { StepContext } from "../runtime/step.ts";
import { mcpCall } from "../tools/mcp-call.ts";
import { mcpList } from "../tools/mcp-list.ts";
import { mcpRequest } from "../tools/mcp-request.ts";
import type { ToolRun } from "../tools/tool.ts";

/** The runtime and the implementations of the three tools, loaded lazily with the first call to keep a host's start fast. */
export interface Engine {
  readonly runtime: Runtime;
  readonly run: (
    tool: ToolName,
    params: Readonly<Record<string, unknown>>,
    host: HostContext | undefined,
    step: StepContext,
  ) => Promise<AgentToolResult>;
}

/** What a host injects under its key. */
export interface HostContext {
  readonly cwd?: unknown;
  readonly sessionId?: unknown;
}

const RUNS: Readonly<Record<ToolName, ToolRun>> = { mcp_list: mcpList, mcp_call: mcpCall, mcp_request: mcpRequest };

export function createEngine(options: RuntimeOptions): Engine {
  const runtime = new Runtime(options);
  return {
    runtime,
    run: (tool, params, host, { cancellation, partial, mayRun }) =>
      RUNS[tool](params, { cancellation, partial, mayRun, runtime, scope: runtime.scope(host) }),
  };
}
