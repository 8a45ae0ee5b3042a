/** What a host sees: the plugin ABI in TypeScript terms. Nothing here has behaviour of its own. */

/** The key under which the host injects its context into the parameters of a tool. */
export const HOST_CONTEXT_KEY = "__rpi";

/** The only `abiVersion` this plugin registers with. */
export const ABI_VERSION = 1;

/** A JSON Schema object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The tools that the plugin registers. */
export type ToolName = "mcp_list" | "mcp_call" | "mcp_request";

/** The codes a failed step can carry; each has a row in docs/errors.md. */
export type ErrorCode =
  | "invalid_params"
  | "config_error"
  | "server_not_found"
  | "server_disabled"
  | "spawn_failed"
  | "connect_failed"
  | "auth_required"
  | "unsupported_protocol"
  | "capability_missing"
  | "tool_not_found"
  | "tool_error"
  | "rpc_error"
  | "protocol_error"
  | "http_error"
  | "session_expired"
  | "limit_exceeded"
  | "timeout"
  | "cancelled"
  | "closed"
  | "denied"
  | "destroyed"
  | "internal";

/** One block of a result, for the model: a text, or an image as base64. */
export type ContentBlock = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

/** What a finished step gives: `content` for the model, `details` for programs. */
export interface AgentToolResult {
  content: ContentBlock[];
  details?: Record<string, unknown>;
}

/** The state of a step. `done` and `err` are terminal: every later poll gives the same. */
export type StepResult =
  | { tag: "pending" }
  | { tag: "done"; result: AgentToolResult }
  | { tag: "err"; code: ErrorCode; message: string; details?: Record<string, unknown> };

/** One running tool call, as the host holds it. */
export interface StepHandle {
  /** Never blocks or throws. Calls `onPartial` synchronously, oldest first, and never after it gave a terminal result. */
  poll(onPartial?: (partial: AgentToolResult) => void): StepResult;
  /** Idempotent. A terminal result follows within one turn of the event loop. */
  cancel(): void;
  /** Idempotent. Cancels what still runs and drops references; `poll` then gives `err` with code `destroyed`. */
  destroy(): void;
  /** Resolves, and never rejects, once `poll` would give a terminal result. */
  readonly settled: Promise<void>;
}

/** One tool as the host offers it to its model: name, description and parameters are passed on unchanged. */
export interface HostTool {
  readonly name: ToolName;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** Returns at once and never throws. */
  execute(toolCallId: string, params: unknown): StepHandle;
}

/** For whom a host's service is asked. */
export interface ServerContext {
  /** The server's name, or its address for a `url` target. */
  server: string;
  sessionId?: string;
  cwd?: string;
  /** Aborted when nobody waits for the answer any more: a dialog should then be closed. */
  signal: AbortSignal;
}

/** A server that is about to start (or to be connected to), or a tool that is about to be called. */
export interface ApprovalRequest {
  server: string;
  action: "start" | "call";
  command?: string;
  args?: readonly string[];
  /** Variables that the entry sets for its program, which may name code too (`NODE_OPTIONS`, `PATH`). */
  env?: Readonly<Record<string, string>>;
  /** Where its program starts, if that is not the host's working directory. */
  cwd?: string;
  url?: string;
  /** Headers that the entry has sent to the URL. */
  headers?: Readonly<Record<string, string>>;
  /** Settings of the entry for a sign-in, which may name who gets its secrets (`issuer`, `identityProvider`). */
  oauth?: Readonly<Record<string, unknown>>;
  /** Names of the host's environment variables whose values the entry uses; the values are masked. */
  variables?: readonly string[];
  /** Tools that a project's file wants called without asking: names and `*` patterns. */
  autoApprove?: readonly string[];
  /** The config file that named the server. */
  configPath?: string;
  tool?: string;
  arguments?: unknown;
  annotations?: unknown;
}

/** A person's answer to a form or a page; `content` holds the fields of a form that was accepted. */
export interface ElicitResult {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown>;
}

/** What a host can do for servers. A capability is declared to a server only if the host offers the service behind it. */
export interface HostServices {
  /** The folders that servers may work in (MCP roots). */
  listRoots?(context: ServerContext): Promise<Array<{ uri: string; name?: string }>>;
  /** Asks the person a server's question (MCP elicitation): a form (`requestedSchema`), or a page to visit (`mode: "url"`). */
  elicit?(params: Record<string, unknown>, context: ServerContext): Promise<ElicitResult>;
  /** A completion by the host's model (MCP sampling). */
  createMessage?(params: Record<string, unknown>, context: ServerContext): Promise<Record<string, unknown>>;
  /** Whether a server may start, or a tool be called. Only `true` allows it. */
  approve?(request: ApprovalRequest, context: ServerContext): Promise<boolean>;
  /** Opens the page of a sign-in for the person. Without it, a call that needs one fails with `auth_required`. */
  openUrl?(url: string, context: ServerContext): Promise<void>;
  /** Told what servers log; the result is ignored. */
  log?(entry: { level: string; server: string; message: string }): void;
}

/** Whether servers of a project's own files start where nobody can be asked. */
export type Trust = "ask" | "always";

/** What a host passes to `register`. */
export interface PluginApi {
  readonly abiVersion: number;
  registerTool?(tool: HostTool): void;
  registerEventHandler?(event: "SessionShutdown", handler: () => void | Promise<void>): void;
  readonly services?: HostServices;
  readonly trust?: Trust;
}
