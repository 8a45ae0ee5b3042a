import { ABI_VERSION, type AgentToolResult, type HostServices, type HostTool, HOST_CONTEXT_KEY, type PluginApi, type StepHandle, type Trust } from "../contract.ts";
import { AdapterError, type Failure, toFailure } from "../errors.ts";
import { type Limits, resolveLimits } from "../limits.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { Runtime } from "../runtime/runtime.ts";
import { Step } from "../runtime/step.ts";
import { mcpCall } from "../tools/mcp-call.ts";
import { mcpList } from "../tools/mcp-list.ts";
import { mcpRequest } from "../tools/mcp-request.ts";
import type { Tool } from "../tools/tool.ts";
import { VERSION } from "../version.ts";

export interface PluginOptions {
  /** Stands behind what a host's own api does not offer. */
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

const TOOLS: readonly Tool[] = [mcpList, mcpCall, mcpRequest];
/** What stays the server's own in the details of a failure. */
const UNREDACTED: ReadonlySet<string> = new Set(["mcpResult"]);

/** A plugin of its own: its hosts share nothing with those of other plugins. */
export function createPlugin(options: PluginOptions = {}): Plugin {
  const runtimes = new Map<PluginApi, Runtime>();
  return {
    register(api) {
      if (api.abiVersion !== ABI_VERSION) return REFUSED_ABI;
      if (typeof api.registerTool !== "function") return REFUSED_HOST;
      // A reload: what the earlier registration had goes first.
      void runtimes.get(api)?.shutdown();
      const runtime = new Runtime({
        services: { ...options.services, ...definedServices(api.services) },
        trust: api.trust ?? options.trust ?? "ask",
        limits: resolveLimits(options.limits),
        clientInfo: options.clientInfo ?? { name: "rpi-mcp-adapter", version: VERSION },
      });
      runtimes.set(api, runtime);
      try {
        for (const tool of TOOLS) api.registerTool(hostTool(tool, runtime));
        api.registerEventHandler?.("SessionShutdown", () => {
          if (runtimes.get(api) === runtime) runtimes.delete(api);
          return runtime.shutdown();
        });
      } catch {
        // A host that refuses one tool gets none: its own error is what it threw.
        runtimes.delete(api);
        void runtime.shutdown();
        return REFUSED_HOST;
      }
      return REGISTERED;
    },
    async shutdown() {
      await Promise.all([...runtimes.values()].map((runtime) => runtime.shutdown()));
      runtimes.clear();
    },
  };
}

/** The methods of a host's services, bound to it; what is undefined is not offered. */
function definedServices(services: HostServices | undefined): HostServices {
  if (services === undefined) return {};
  const names = ["listRoots", "elicit", "createMessage", "approve", "openUrl", "log"] as const;
  const bound: Record<string, unknown> = {};
  for (const name of names) {
    const service = services[name];
    if (typeof service === "function") bound[name] = service.bind(services);
  }
  return bound as HostServices;
}

function hostTool(tool: Tool, runtime: Runtime): HostTool {
  const { name, description, parameters } = tool;
  return { name, description, parameters, execute: (_toolCallId, params) => execute(tool, params, runtime) };
}

function execute(tool: Tool, params: unknown, runtime: Runtime): StepHandle {
  const step = new Step({
    run: async (context): Promise<AgentToolResult> => {
      if (runtime.isShutDown) throw new AdapterError("shutdown", {});
      if (!isObject(params)) throw new AdapterError("params.invalid", { tool: tool.name, path: "", reason: "must be an object" });
      const host = params[HOST_CONTEXT_KEY];
      const scope = runtime.scope(isObject(host) ? host : undefined);
      return tool.run(params, { ...context, runtime, scope });
    },
    describe: (error) => describe(error, runtime),
    maxPartials: runtime.limits.queuedPartials,
    onEnd: (ended) => runtime.steps.delete(ended),
  });
  runtime.steps.add(step);
  step.start();
  return step;
}

function describe(error: unknown, { redactor }: Runtime): Failure {
  const failure = toFailure(error);
  return { code: failure.code, message: redactor.text(failure.message), details: redactor.data(failure.details, UNREDACTED) };
}
