import {
  ABI_VERSION,
  type AgentToolResult,
  HOST_CONTEXT_KEY,
  type HostServices,
  type HostTool,
  type PluginApi,
  type StepHandle,
  type ToolName,
  type Trust,
} from "../contract.ts";
import { AdapterError, type Failure, toFailure } from "../errors.ts";
import { type Limits, resolveLimits } from "../limits.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { RuntimeOptions } from "../runtime/runtime.ts";
import { Step, type StepContext, type StepOptions } from "../runtime/step.ts";
import { Steps } from "../runtime/steps.ts";
import { DECLARATIONS, type Declaration } from "../tools/declarations.ts";
import { CLIENT_INFO } from "../version.ts";
import type { Engine } from "./engine.ts";

export interface PluginOptions {
  /** Defaults for services that a host's own api does not offer. */
  readonly services?: HostServices;
  readonly trust?: Trust;
  readonly limits?: Partial<Limits>;
  /** How servers see the client. */
  readonly clientInfo?: { readonly name: string; readonly version: string; readonly title?: string };
}

export interface Plugin {
  /** 0: registered. Non-zero: refused, and nothing is left registered or running. */
  register(api: PluginApi): number;
  /** Shuts down every host of this plugin; idempotent, bounded, never rejects. */
  shutdown(): Promise<void>;
}

const REGISTERED = 0;
const REFUSED_ABI = 1;
const REFUSED_HOST = 2;

/** Every service a host may offer; a missing one does not compile. */
const SERVICES = Object.keys({
  listRoots: true,
  elicit: true,
  createMessage: true,
  approve: true,
  openUrl: true,
  log: true,
} satisfies Record<keyof HostServices, true>) as (keyof HostServices)[];

/** Members of a failure's details that are not redacted: the server's untouched result. */
const UNREDACTED: ReadonlySet<string> = new Set(["mcpResult"]);

/** Creates an independent plugin; hosts that register with it share nothing with hosts of other plugins. */
export function createPlugin(options: PluginOptions = {}): Plugin {
  const registrations = new Map<PluginApi, Registration>();
  /** Shutdowns in progress, with the api object that each belonged to. */
  const leaving = new Map<Promise<void>, PluginApi>();
  const leave = (api: PluginApi, registration: Registration): void => {
    const left = registration.shutdown().finally(() => leaving.delete(left));
    leaving.set(left, api);
  };
  return {
    register(api) {
      // A reload: what the earlier registration had goes first, whatever becomes of this one.
      const earlier = registrations.get(api);
      registrations.delete(api);
      if (earlier !== undefined) leave(api, earlier);
      const refusal = refusalOf(api);
      if (refusal !== REGISTERED) return refusal;
      const registration = new Registration(api, options);
      registrations.set(api, registration);
      try {
        for (const declaration of DECLARATIONS) api.registerTool?.(registration.tool(declaration));
        api.registerEventHandler?.("SessionShutdown", async () => {
          if (registrations.get(api) === registration) registrations.delete(api);
          leave(api, registration);
          // All that the host ever had: of several reloads in a row, the first may take longest to leave.
          await Promise.all([...leaving].map(([left, of]) => (of === api ? left : undefined)));
        });
      } catch {
        // A host that refuses one tool gets none: its own error is what it threw.
        registrations.delete(api);
        leave(api, registration);
        return REFUSED_HOST;
      }
      return REGISTERED;
    },
    async shutdown() {
      for (const [api, registration] of registrations) leave(api, registration);
      registrations.clear();
      await Promise.all(leaving.keys());
    },
  };
}

/** One host's registration: its steps, and the engine, which its first call loads. */
class Registration {
  readonly #api: PluginApi;
  readonly #options: PluginOptions;
  readonly #limits: Limits;
  readonly #steps = new Steps();
  readonly #stepOptions: StepOptions;
  #engine: Engine | undefined;
  #loading: Promise<Engine> | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(api: PluginApi, options: PluginOptions) {
    this.#api = api;
    this.#options = options;
    this.#limits = resolveLimits(options.limits);
    this.#stepOptions = {
      describe: (error) => this.#describe(error),
      maxPartials: this.#limits.queuedPartials,
      onEnd: (ended) => this.#steps.delete(ended),
    };
  }

  tool({ name, description, parameters }: Declaration): HostTool {
    // A copy, so that a host that modifies its declaration does not affect others.
    return {
      name,
      description,
      parameters: structuredClone(parameters),
      execute: (_toolCallId, params) => this.#execute(name, params),
    };
  }

  /** Idempotent. Ends every step at once; resolves when everything behind them is down, within the shutdown bound. */
  shutdown(): Promise<void> {
    this.#steps.cancelAll();
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  #execute(name: ToolName, params: unknown): StepHandle {
    const step = new Step(this.#stepOptions);
    this.#steps.add(step);
    step.start((context) => this.#run(name, params, context));
    return step;
  }

  #run(name: ToolName, params: unknown, context: StepContext): Promise<AgentToolResult> {
    if (this.#shutdown !== undefined) throw new AdapterError("shutdown", {});
    if (!isObject(params))
      throw new AdapterError("params.invalid", { tool: name, path: "", reason: "must be an object" });
    const injected = params[HOST_CONTEXT_KEY];
    const host = isObject(injected) ? injected : undefined;
    if (this.#engine !== undefined) return this.#engine.run(name, params, host, context);
    // A copy, since loading takes a while and a host may reuse the object for its next call.
    const given = { ...params };
    return this.#load().then((engine) => {
      if (context.cancellation.cancelled) throw new AdapterError("cancelled", {});
      return engine.run(name, given, host, context);
    });
  }

  async #load(): Promise<Engine> {
    this.#loading ??= import("./engine.ts").then(({ createEngine }) => createEngine(this.#runtimeOptions()));
    try {
      this.#engine = await this.#loading;
    } catch (error) {
      this.#loading = undefined; // The next call may find the host in order.
      throw error;
    }
    if (this.#shutdown !== undefined) throw new AdapterError("shutdown", {});
    return this.#engine;
  }

  #runtimeOptions(): RuntimeOptions {
    const { services, trust, clientInfo } = this.#options;
    return {
      services: { ...definedServices(services), ...definedServices(this.#api.services) },
      trust: this.#api.trust ?? trust ?? "ask",
      limits: this.#limits,
      clientInfo: clientInfo ?? CLIENT_INFO,
    };
  }

  async #end(): Promise<void> {
    // A first call may be on its way: what it loads is shut down as well.
    const engine = this.#engine ?? (await this.#loading?.catch(() => undefined));
    await engine?.runtime.shutdown();
  }

  #describe(error: unknown): Failure {
    const failure = toFailure(error);
    const redactor = this.#engine?.runtime.redactor;
    if (redactor === undefined) return failure;
    return {
      code: failure.code,
      message: redactor.text(failure.message),
      details: redactor.data(failure.details, UNREDACTED),
    };
  }
}

/** Why the host cannot be registered with; nothing else of it is read before its version. */
function refusalOf(api: PluginApi): number {
  try {
    if (typeof api !== "object" || api === null || api.abiVersion !== ABI_VERSION) return REFUSED_ABI;
    return typeof api.registerTool === "function" ? REGISTERED : REFUSED_HOST;
  } catch {
    return REFUSED_HOST; // It does not even let itself be read.
  }
}

/** The methods of a host's services, bound to it; what is undefined is not offered. */
function definedServices(services: HostServices | undefined): HostServices {
  if (typeof services !== "object" || services === null) return {};
  const bound: Record<string, unknown> = {};
  for (const name of SERVICES) {
    const service = services[name];
    if (typeof service === "function") bound[name] = service.bind(services);
  }
  return bound as HostServices;
}
