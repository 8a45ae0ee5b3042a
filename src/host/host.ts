import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  ABI_VERSION,
  type AgentToolResult,
  type HostServices,
  type HostTool,
  type PluginApi,
  type StepHandle,
  type Trust,
} from "../contract.ts";
import { defined } from "../defined.ts";
import { AdapterError, isAdapterError, reasonOf, toFailure } from "../errors.ts";
import { withHostContext } from "../host-context.ts";
import { drive, StepError } from "../plugin/drive.ts";
import { processFolder } from "../process-folder.ts";
import { promised } from "../promised.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { Step } from "../runtime/step.ts";
import { readManifest } from "./manifest.ts";

export { StepError };

export interface HostOptions {
  /** The working directory of the session; default: the process's. */
  readonly cwd?: string;
  readonly sessionId?: string;
  readonly services?: HostServices;
  /** Default: `ask`. */
  readonly trust?: Trust;
}

export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  readonly onPartial?: (partial: AgentToolResult) => void;
}

/** A host for one session: what an agent program does with the plugin, and the reference for those who write their own. */
export interface Host {
  /** Reads plugin.json, checks its abiVersion, imports the entry and registers; a second time it is a reload. @throws AdapterError `config_error`. */
  load(pluginDir: string): Promise<void>;
  readonly tools: readonly HostTool[];
  /** The raw handle; the host context is injected, whatever the model wrote there. */
  execute(tool: string, params: object): StepHandle;
  /** Drives one call to its end. @throws StepError with `code`, `message` and `details`. */
  call(tool: string, params: object, options?: CallOptions): Promise<AgentToolResult>;
  /** Dispatches SessionShutdown, then unloads; idempotent. */
  shutdown(): Promise<void>;
}

/** A host for one session. It has no tools until a plugin is loaded. */
export function createHost(options: HostOptions = {}): Host {
  return new ReferenceHost(options);
}

/** One loaded plugin: the api object that it registered with, and its shutdown handlers. */
interface Loaded {
  readonly api: PluginApi;
  handlers: (() => void | Promise<void>)[];
}

type Register = (api: PluginApi) => number;

class ReferenceHost implements Host {
  readonly #options: HostOptions;
  readonly #tools = new Map<string, HostTool>();
  /** By folder: loading a plugin again is a reload. */
  readonly #loaded = new Map<string, Loaded>();
  #ending: Promise<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  get tools(): readonly HostTool[] {
    return [...this.#tools.values()];
  }

  async load(pluginDir: string): Promise<void> {
    const folder = resolve(pluginDir);
    const { entry } = await readManifest(folder);
    const register = await importRegister(entry);
    await this.#ending;
    const loaded = this.#loaded.get(folder) ?? this.#makeApi();
    const before = new Map(this.#tools);
    const { handlers } = loaded;
    loaded.handlers = [];
    const refusal = refusalOf(register, loaded.api);
    if (refusal === undefined) {
      this.#loaded.set(folder, loaded);
      return;
    }
    loaded.handlers = handlers;
    this.#tools.clear();
    for (const [name, tool] of before) this.#tools.set(name, tool);
    throw new AdapterError("config.shape", { configPath: entry, reason: refusal });
  }

  execute(tool: string, params: object): StepHandle {
    const found = this.#tools.get(tool);
    if (found === undefined) return failed(new AdapterError("host.tool", { tool, tools: [...this.#tools.keys()] }));
    // What is no object is for the tool to refuse, and takes no context.
    let given: unknown = params;
    try {
      if (isObject(params)) given = withHostContext(params, this.#context());
    } catch (error) {
      if (isAdapterError(error)) return failed(error); // There is no working directory any more.
      const reason = `cannot be read: ${reasonOf(error)}`;
      return failed(new AdapterError("params.invalid", { tool, path: "", reason }));
    }
    return found.execute(`call-${nextCall++}`, given);
  }

  call(tool: string, params: object, options: CallOptions = {}): Promise<AgentToolResult> {
    return promised((given) => drive(this.execute(tool, given), options), params);
  }

  shutdown(): Promise<void> {
    this.#ending ??= this.#end().finally(() => {
      this.#ending = undefined;
    });
    return this.#ending;
  }

  async #end(): Promise<void> {
    const handlers = [...this.#loaded.values()].flatMap((loaded) => loaded.handlers);
    this.#loaded.clear();
    this.#tools.clear();
    await Promise.allSettled(handlers.map(async (handler) => handler()));
  }

  #context(): object {
    const { cwd = processFolder(), sessionId } = this.#options;
    return sessionId === undefined ? { cwd } : { cwd, sessionId };
  }

  #makeApi(): Loaded {
    const { services, trust } = this.#options;
    const api: PluginApi = {
      abiVersion: ABI_VERSION,
      registerTool: (tool) => {
        this.#tools.set(tool.name, tool);
      },
      registerEventHandler: (_event, handler) => {
        loaded.handlers.push(handler);
      },
      ...defined({ services, trust }),
    };
    const loaded: Loaded = { api, handlers: [] };
    return loaded;
  }
}

let nextCall = 1;

/** @throws AdapterError `config_error` */
async function importRegister(entry: string): Promise<Register> {
  let module: { register?: unknown; default?: unknown };
  try {
    module = await import(pathToFileURL(entry).href);
  } catch (error) {
    const reason = `cannot be imported: ${reasonOf(error)}`;
    throw new AdapterError("config.shape", { configPath: entry, reason }, { cause: error });
  }
  const register = typeof module.register === "function" ? module.register : module.default;
  if (typeof register === "function") return register as Register;
  throw new AdapterError("config.shape", { configPath: entry, reason: "it exports no register function" });
}

/** Why the plugin did not register; nothing if it did. */
function refusalOf(register: Register, api: PluginApi): string | undefined {
  try {
    const refused = register(api);
    return refused === 0 ? undefined : `the plugin refused to register (${String(refused)})`;
  } catch (error) {
    return `the plugin failed to register: ${reasonOf(error)}`;
  }
}

/** A step that could not be started. */
function failed(error: AdapterError): StepHandle {
  const run = (): Promise<never> => Promise.reject(error);
  const step = new Step({ describe: toFailure, maxPartials: 1, onEnd: () => undefined });
  step.start(run);
  return step;
}
