import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  ABI_VERSION,
  type AgentToolResult,
  HOST_CONTEXT_KEY,
  type HostServices,
  type HostTool,
  type PluginApi,
  type StepHandle,
  type Trust,
} from "../contract.ts";
import { AdapterError } from "../errors.ts";
import { drive, StepError } from "../plugin/drive.ts";
import { readManifest } from "./manifest.ts";

export { StepError };

export interface HostOptions {
  /** The working directory of the session; default: the process's. */
  readonly cwd?: string;
  readonly sessionId?: string;
  readonly services?: HostServices;
  readonly trust?: Trust;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onPartial?: (partial: AgentToolResult) => void;
}

/** A host for one session: what an agent program does with the plugin, and the reference for those who write their own. */
export interface Host {
  /** Reads plugin.json, checks its abiVersion, imports the entry and registers. @throws AdapterError `config_error`, `internal`. */
  load(pluginDir: string): Promise<void>;
  readonly tools: readonly HostTool[];
  /** The raw handle; the host context is injected, whatever the model wrote there. */
  execute(tool: string, params: object): StepHandle;
  /** Drives one call to its end. @throws StepError with `code`, `message` and `details`. */
  call(tool: string, params: object, options?: CallOptions): Promise<AgentToolResult>;
  /** Dispatches SessionShutdown, then unloads; idempotent. */
  shutdown(): Promise<void>;
}

export function createHost(options: HostOptions = {}): Host {
  return new ReferenceHost(options);
}

class ReferenceHost implements Host {
  readonly #options: HostOptions;
  readonly #tools = new Map<string, HostTool>();
  #handlers: (() => void | Promise<void>)[] = [];

  constructor(options: HostOptions) {
    this.#options = options;
  }

  get tools(): readonly HostTool[] {
    return [...this.#tools.values()];
  }

  async load(pluginDir: string): Promise<void> {
    const folder = resolve(pluginDir);
    const { entry } = await readManifest(folder);
    const module = (await import(pathToFileURL(entry).href)) as { register?: unknown; default?: unknown };
    const register = typeof module.register === "function" ? module.register : module.default;
    if (typeof register !== "function") throw new AdapterError("config.shape", { configPath: entry, reason: "it exports no register function" });
    const before = new Map(this.#tools);
    const refused = (register as (api: PluginApi) => number)(this.#api());
    if (refused === 0) return;
    this.#tools.clear();
    for (const [name, tool] of before) this.#tools.set(name, tool);
    throw new AdapterError("config.shape", { configPath: entry, reason: `the plugin refused to register (${String(refused)})` });
  }

  execute(tool: string, params: object): StepHandle {
    const found = this.#tools.get(tool);
    if (found === undefined) return failed(new AdapterError("host.tool", { tool, tools: [...this.#tools.keys()] }));
    const { cwd = process.cwd(), sessionId } = this.#options;
    const context = { cwd, ...(sessionId === undefined ? {} : { sessionId }) };
    return found.execute(`call-${nextCall++}`, { ...params, [HOST_CONTEXT_KEY]: context });
  }

  call(tool: string, params: object, options: CallOptions = {}): Promise<AgentToolResult> {
    return drive(this.execute(tool, params), options);
  }

  async shutdown(): Promise<void> {
    const handlers = this.#handlers;
    this.#handlers = [];
    await Promise.allSettled(handlers.map(async (handler) => handler()));
    this.#tools.clear();
  }

  #api(): PluginApi {
    const { services, trust } = this.#options;
    return {
      abiVersion: ABI_VERSION,
      registerTool: (tool) => {
        this.#tools.set(tool.name, tool);
      },
      registerEventHandler: (_event, handler) => {
        this.#handlers.push(handler);
      },
      ...(services === undefined ? {} : { services }),
      ...(trust === undefined ? {} : { trust }),
    };
  }
}

let nextCall = 1;

/** A step that could not be started. */
function failed(error: AdapterError): StepHandle {
  const { code, message, details } = error;
  return { poll: () => ({ tag: "err", code, message, details }), cancel: () => undefined, destroy: () => undefined, settled: Promise.resolve() };
}
