/** The contract's types as hosts and tests know them, and the published ones held against them. Compiled, never run. */

import { createHost, type Host, StepError } from "../../src/host/host.ts";
import defaultRegister, {
  ABI_VERSION,
  AdapterError,
  type AgentToolResult,
  createPlugin,
  type ErrorCode,
  HOST_CONTEXT_KEY,
  type Host as HostOfMain,
  type HostServices,
  type HostTool,
  isAdapterError,
  LIMITS,
  type PluginApi,
  register,
  type ServerContext,
  type StepHandle,
  type StepResult,
} from "../../src/index.ts";
import extension, { type PiApi } from "../../src/pi/extension.ts";

namespace Contract {
  type JsonSchema = Readonly<Record<string, unknown>>;
  export interface PluginApi {
    readonly abiVersion: number;
    registerTool?(tool: HostTool): void;
    registerEventHandler?(event: "SessionShutdown", handler: () => void | Promise<void>): void;
    readonly services?: HostServices;
    readonly trust?: "ask" | "always";
  }
  export interface HostTool {
    readonly name: "mcp_list" | "mcp_call" | "mcp_request";
    readonly description: string;
    readonly parameters: JsonSchema;
    execute(toolCallId: string, params: unknown): StepHandle;
  }
  export interface StepHandle {
    poll(onPartial?: (partial: AgentToolResult) => void): StepResult;
    cancel(): void;
    destroy(): void;
    readonly settled: Promise<void>;
  }
  export type StepResult =
    | { tag: "pending" }
    | { tag: "done"; result: AgentToolResult }
    | { tag: "err"; code: ErrorCode; message: string; details?: Record<string, unknown> };
  export interface AgentToolResult {
    content: Array<{ type: "text"; text: string } | { type: "image"; data: string; mimeType: string }>;
    details?: Record<string, unknown>;
  }
  type Elicited = { action: "accept" | "decline" | "cancel"; content?: Record<string, unknown> };
  interface Approval {
    server: string;
    action: "start" | "call";
    command?: string;
    url?: string;
    tool?: string;
    arguments?: unknown;
    annotations?: unknown;
  }
  export interface HostServices {
    listRoots?(context: ServerContext): Promise<Array<{ uri: string; name?: string }>>;
    elicit?(params: Record<string, unknown>, context: ServerContext): Promise<Elicited>;
    createMessage?(params: Record<string, unknown>, context: ServerContext): Promise<Record<string, unknown>>;
    approve?(request: Approval, context: ServerContext): Promise<boolean>;
    openUrl?(url: string, context: ServerContext): Promise<void>;
    log?(entry: { level: string; server: string; message: string }): void;
  }
  export interface ServerContext {
    server: string;
    sessionId?: string;
    cwd?: string;
    signal: AbortSignal;
  }
  export interface Host {
    load(pluginDir: string): Promise<void>;
    readonly tools: readonly HostTool[];
    execute(tool: string, params: object): StepHandle;
    call(
      tool: string,
      params: object,
      options?: { signal?: AbortSignal; onPartial?: (p: AgentToolResult) => void },
    ): Promise<AgentToolResult>;
    shutdown(): Promise<void>;
  }
  export type HostOptions = { cwd?: string; sessionId?: string; services?: HostServices; trust?: "ask" | "always" };
  export type ErrorCode =
    | ("invalid_params" | "config_error" | "server_not_found" | "server_disabled" | "spawn_failed" | "connect_failed")
    | ("auth_required" | "unsupported_protocol" | "capability_missing" | "tool_not_found" | "tool_error" | "rpc_error")
    | ("protocol_error" | "http_error" | "session_expired" | "limit_exceeded" | "timeout" | "cancelled" | "closed")
    | ("denied" | "destroyed" | "internal");
}

/** Compiles where each type can stand for the other. */
function same<_A extends B, B extends C, C>(): void {}
same<PluginApi, Contract.PluginApi, PluginApi>();
same<HostTool, Contract.HostTool, HostTool>();
same<StepHandle, Contract.StepHandle, StepHandle>();
same<StepResult, Contract.StepResult, StepResult>();
same<AgentToolResult, Contract.AgentToolResult, AgentToolResult>();
same<HostServices, Contract.HostServices, HostServices>();
same<ServerContext, Contract.ServerContext, ServerContext>();
same<Host, Contract.Host, Host>();
same<HostOfMain, Host, HostOfMain>();
same<ErrorCode, Contract.ErrorCode, ErrorCode>();

export const registers: ((api: Contract.PluginApi) => number)[] = [register, defaultRegister, createPlugin().register];
export const hosts: (options?: Contract.HostOptions) => Contract.Host = createHost;
export const key: "__rpi" = HOST_CONTEXT_KEY;
export const abi: 1 = ABI_VERSION;
export const pi: ((pi: unknown) => void)[] = [extension];
export const piFactory: (pi: PiApi) => void = extension;
export const shutdown: () => Promise<void> = createPlugin({
  trust: "always",
  services: {},
  limits: { resultBytes: 1 },
}).shutdown;
export const client = createPlugin({ clientInfo: { name: "n", version: "1" } });
export const limit: number = LIMITS.messageBytes;

/** What a host does with a handle, as far as the compiler helps it. */
export function drive(handle: StepHandle, thrown: unknown): string {
  const end = handle.poll((partial) => partial.content.length);
  // @ts-expect-error: there is no result before the tag says so
  void end.result;
  if (end.tag === "err") {
    const known: Contract.ErrorCode = end.code;
    // @ts-expect-error: a code that there is not
    if (end.code === "nonsense") return known;
    return end.message;
  }
  if (isAdapterError(thrown) || thrown instanceof AdapterError || thrown instanceof StepError) return thrown.code;
  const [block] = end.tag === "done" ? end.result.content : [];
  return block?.type === "image" ? block.mimeType : (block?.text ?? "");
}

// @ts-expect-error: without a version nothing is registered
register({ registerTool: () => {} });
// @ts-expect-error: there is one event
register({ abiVersion: 1, registerEventHandler: (_event: "SessionStart", _handler: () => void) => {} });
// @ts-expect-error: trust is one of two words
createPlugin({ trust: "never" });
// @ts-expect-error: limits are not for writing
LIMITS.connections = 1;
// @ts-expect-error: an answer to an approval is a yes or a no
createHost({ services: { approve: async () => "yes" } });
// @ts-expect-error: a call needs parameters
void createHost().call("mcp_list");
