import type { AgentToolResult } from "../contract.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Scope } from "../runtime/scope.ts";
import type { StepContext } from "../runtime/step.ts";

/** What one run of a tool works with. */
export interface ToolContext extends StepContext {
  readonly runtime: Runtime;
  readonly scope: Scope;
}

/** What a tool does. @throws AdapterError; bad parameters before anything is started or opened. */
export type ToolRun = (params: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<AgentToolResult>;
