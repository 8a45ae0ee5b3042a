import type { Cancellation } from "../cancellation.ts";
import type { ApprovalRequest, HostServices, Trust } from "../contract.ts";
import { defined } from "../defined.ts";
import { AdapterError, reasonOf } from "../errors.ts";
import type { Facts } from "../messages.ts";
import { Redactor } from "../redactor.ts";
import { serverContext } from "../server-context.ts";
import { isWantedByProject, type ServerSpec } from "../server-spec.ts";
import { matchesAny } from "./patterns.ts";
import type { Scope } from "./scope.ts";

/** Answers remembered, so that they are not asked again. */
const REMEMBERED = 1024;

export interface ApprovalOptions {
  readonly services: HostServices;
  readonly trust: Trust;
  readonly redactor: Redactor;
}

/** What a person is told of a call that they are asked to approve. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
  readonly annotations?: unknown;
}

/** Asks the host before a server is started and before a tool is called; a host without an `approve` service is decided for by `trust`. */
export class Approval {
  readonly #options: ApprovalOptions;
  /** Starts that were allowed: that exact entry, in that session. */
  readonly #allowed = new Set<string>();
  /** Start questions in flight, by `startKey`: parallel first calls share one. */
  readonly #asking = new Map<string, Promise<Verdict>>();

  constructor(options: ApprovalOptions) {
    this.#options = options;
  }

  /**
   * Whether the server may be used without a question: no where a project wants it, the project is not trusted, and nobody can be
   * asked. Its connection may be open all the same, for calls that named its file.
   */
  isUsable(spec: ServerSpec): boolean {
    return this.#options.services.approve !== undefined || !isWantedByProject(spec) || this.#trusts(spec);
  }

  /**
   * Makes sure that the server may start. Returns whether that took a question: the settings may have changed while it was open.
   * @throws AdapterError `denied`, `cancelled`. Nothing was started then.
   */
  async start(scope: Scope, spec: ServerSpec, cancellation: Cancellation): Promise<boolean> {
    const { name: server } = spec;
    if (!this.isUsable(spec)) throw startDenied(spec, "untrusted");
    if (this.#options.services.approve === undefined) return false;
    const key = startKey(scope, spec);
    if (this.#allowed.has(key)) return false;
    while (!this.#allowed.has(key)) {
      let asking = this.#asking.get(key);
      if (asking === undefined) {
        asking = this.#ask(startRequest(spec, scope.cwd, this.#options.redactor), scope, cancellation).finally(() =>
          this.#asking.delete(key),
        );
        this.#asking.set(key, asking);
      }
      const verdict = await asking;
      if (cancellation.cancelled) throw new AdapterError("cancelled", { server });
      if (verdict === "refused") throw startDenied(spec, "refused");
      // `withdrawn`: the step that had asked was cancelled, so this one asks anew.
      if (verdict === "allowed") this.#remember(key);
    }
    return true;
  }

  /** Whether this tool needs an approval before it is called. */
  asks(scope: Scope, spec: ServerSpec, tool: string): boolean {
    if (this.#options.services.approve === undefined) return false;
    // A project's `autoApprove` counts only for its own servers, where the person saw it when they approved the start.
    if (spec.autoApproveFrom === "project" && !this.#trusts(spec)) {
      if (spec.origin !== "project" || !this.#allowed.has(startKey(scope, spec))) return true;
    }
    return spec.autoApprove !== true && !matchesAny(spec.autoApprove, tool);
  }

  /** @throws AdapterError `denied`, `cancelled`. Nothing was sent then. */
  async call(scope: Scope, server: string, call: ToolCall, cancellation: Cancellation): Promise<void> {
    const { tool, args, annotations } = call;
    const request: ApprovalRequest = { server, action: "call", tool, arguments: args, ...defined({ annotations }) };
    const verdict = await this.#ask(request, scope, cancellation);
    if (cancellation.cancelled) throw new AdapterError("cancelled", { server });
    if (verdict !== "allowed") throw new AdapterError("denied.call", { server, tool });
  }

  /** Whether a project's files are trusted as the user's own. */
  #trusts(spec: ServerSpec): boolean {
    return this.#options.trust === "always" || spec.trust === "always";
  }

  #remember(key: string): void {
    if (this.#allowed.size >= REMEMBERED) this.#allowed.clear();
    this.#allowed.add(key);
  }

  /** Only `true` allows; a service that fails has not allowed anything. */
  async #ask(request: ApprovalRequest, scope: Scope, cancellation: Cancellation): Promise<Verdict> {
    if (cancellation.cancelled) return "withdrawn";
    const { services } = this.#options;
    const context = serverContext(request.server, scope, cancellation.signal);
    let release = (): void => undefined;
    const withdrawn = new Promise<Verdict>((resolve) => {
      release = cancellation.onCancel(() => resolve("withdrawn"));
    });
    const asked = async (): Promise<Verdict> =>
      (await services.approve?.(request, context)) === true ? "allowed" : "refused";
    try {
      return await Promise.race([asked(), withdrawn]);
    } catch (error) {
      // The host could not ask: that is no approval, and the denial does not say why.
      process.emitWarning(`rpi-mcp-adapter: the host's approve service failed: ${reasonOf(error)}`);
      return "refused";
    } finally {
      release();
    }
  }
}

/** Why a server was not started, and which files want it. */
export function startDenied(
  { name: server, configPath, enabledBy }: ServerSpec,
  reason: Facts["denied.start"]["reason"],
): AdapterError {
  return new AdapterError("denied.start", {
    server,
    reason,
    ...defined({ configPath, enabledBy }),
  });
}

/** What an approved start is remembered by: this exact entry, with what its project wants called without asking, in this scope. */
function startKey(scope: Scope, spec: ServerSpec): string {
  const { name, configPath, fingerprint } = spec;
  return JSON.stringify([scope.key, configPath, name, fingerprint, unasked(spec)]);
}

/** The `autoApprove` that a project's file sets for its own server. */
function unasked({ origin, autoApprove, autoApproveFrom }: ServerSpec): ServerSpec["autoApprove"] | undefined {
  return origin === "project" && autoApproveFrom === "project" ? autoApprove : undefined;
}

type Verdict = "allowed" | "refused" | "withdrawn";

/**
 * The question before a server starts: everything that decides what runs, and what it gets of the person's environment. The values
 * of secret variables are masked.
 */
export function startRequest(spec: ServerSpec, cwd: string, known: Redactor): ApprovalRequest {
  const { name: server, endpoint, configPath, variables } = spec;
  const mask = maskFor(spec, known);
  const autoApprove = unasked(spec) ?? [];
  const common: ApprovalRequest = {
    server,
    action: "start",
    ...defined({
      configPath,
      variables: filled([...variables.keys()]),
      autoApprove: filled(autoApprove === true ? ["*"] : autoApprove),
    }),
  };
  if (endpoint.kind === "http") {
    const [headers, oauth] = [mask.data(endpoint.headers), mask.data({ ...(endpoint.oauth || {}) })];
    return { ...common, url: mask.text(endpoint.url), ...defined({ headers: filled(headers), oauth: filled(oauth) }) };
  }
  const elsewhere = endpoint.cwd === cwd ? undefined : mask.text(endpoint.cwd);
  return {
    ...common,
    command: mask.text(endpoint.command),
    args: mask.data(endpoint.args),
    ...defined({ env: filled(mask.data(endpoint.env)), cwd: elsewhere }),
  };
}

/**
 * Of a project's entry only values of the person's own variables are masked: a project could make its command look like a secret, to
 * hide what runs.
 */
function maskFor({ origin, secrets, variables }: ServerSpec, known: Redactor): Redactor {
  if (origin !== "project") return known;
  const redactor = new Redactor();
  redactor.add([...variables.values()].filter((value) => secrets.includes(value)));
  return redactor;
}

function filled<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}
