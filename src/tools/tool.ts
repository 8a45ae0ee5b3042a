import type { AgentToolResult, JsonSchema, ToolName } from "../contract.ts";
import type { Scope } from "../runtime/registry.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { StepContext } from "../runtime/step.ts";

/** What one run of a tool works with. */
export interface ToolContext extends StepContext {
  readonly runtime: Runtime;
  readonly scope: Scope;
}

/** One of the three tools: what the model is told, and what it does. */
export interface Tool {
  readonly name: ToolName;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** @throws AdapterError; bad parameters before anything is started or opened. */
  readonly run: (params: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<AgentToolResult>;
}
