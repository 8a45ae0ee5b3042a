import type { PluginApi } from "./contract.ts";
import { createPlugin } from "./plugin/plugin.ts";

export type {
  AgentToolResult,
  ApprovalRequest,
  ContentBlock,
  ElicitResult,
  ErrorCode,
  HostServices,
  HostTool,
  JsonSchema,
  PluginApi,
  ServerContext,
  StepHandle,
  StepResult,
  ToolName,
  Trust,
} from "./contract.ts";
export { ABI_VERSION, HOST_CONTEXT_KEY } from "./contract.ts";
export { AdapterError, isAdapterError } from "./errors.ts";
export type { Host } from "./host/host.ts";
export { LIMITS, type Limits } from "./limits.ts";
export { createPlugin, type Plugin, type PluginOptions } from "./plugin/plugin.ts";

const plugin = createPlugin();

/** Registers the three tools with a host. 0: registered; non-zero: refused, and nothing is left registered or running. */
export function register(api: PluginApi): number {
  return plugin.register(api);
}

export default register;
