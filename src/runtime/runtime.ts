import { realpathSync } from "node:fs";
import type { Authorizer } from "../authorizer.ts";
import { ConfigStore, type ConfigView } from "../config/store.ts";
import { specForUrl } from "../config/url-target.ts";
import type { HostServices, Trust } from "../contract.ts";
import { Deadlines } from "../deadlines.ts";
import { AdapterError, isAdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { ClientIdentity } from "../protocol/dialect.ts";
import { Redactor } from "../redactor.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type Catalog, LISTS, type ListKind } from "../session/catalog.ts";
import { Approval } from "./approval.ts";
import type { Connection } from "./connection.ts";
import { connector } from "./open-connection.ts";
import { type Attempt, type Lease, Registry, type Scope } from "./registry.ts";
import type { AcquireOptions } from "./shared-attempt.ts";
import type { SignIns } from "./sign-in.ts";
import { Spill } from "./spill.ts";

export interface RuntimeOptions {
  readonly services: HostServices;
  readonly trust: Trust;
  readonly limits: Limits;
  readonly clientInfo: ClientIdentity["info"];
}

/** What a tool call is about: a configured server, or a URL. */
export interface Target {
  readonly server?: string | undefined;
  readonly configPath?: string | undefined;
  readonly url?: string | undefined;
}

export interface Discovered {
  readonly connection: Connection;
  readonly catalog: Catalog;
}

/** Everything that lives behind the tools of one plugin: config, connections, private files, known secrets. */
export class Runtime {
  readonly limits: Limits;
  readonly services: HostServices;
  readonly redactor = new Redactor();
  readonly spill = new Spill();
  readonly approval: Approval;
  readonly registry: Registry;
  readonly #config: ConfigStore;
  readonly #clientInfo: ClientIdentity["info"];
  readonly #deadlines = new Deadlines();
  readonly #realPaths = new Map<string, string>();
  /** The scopes that have seen a state of the files. */
  readonly #views = new WeakMap<ConfigView, Set<string>>();
  #lastScope: { readonly cwd: unknown; readonly sessionId: unknown; readonly scope: Scope } | undefined;
  readonly #notices = new Set<(scope: Scope, server: string, text: string) => void>();
  #signIns: SignIns | undefined;
  #shutdown: Promise<void> | undefined;

  constructor({ services, trust, limits, clientInfo }: RuntimeOptions) {
    this.limits = limits;
    this.services = services;
    this.#clientInfo = clientInfo;
    this.#config = new ConfigStore({ limits });
    this.approval = new Approval({ services, trust, redactor: this.redactor });
    const authorizer = (spec: ServerSpec, attempt: Attempt): Promise<Authorizer> => this.#authorizer(spec, attempt);
    this.registry = new Registry(
      connector({ services, limits, clientInfo, redactor: this.redactor, deadlines: this.#deadlines, authorizer }),
      limits,
    );
  }

  /** Whose connections a call uses, by the context that its host injected. */
  scope(context: { readonly cwd?: unknown; readonly sessionId?: unknown } | undefined): Scope {
    const cwd = context?.cwd;
    const sessionId = context?.sessionId;
    const last = this.#lastScope;
    if (last !== undefined && last.cwd === cwd && last.sessionId === sessionId && cwd !== undefined) return last.scope;
    const scope = this.#makeScope(cwd, sessionId);
    this.#lastScope = { cwd, sessionId, scope };
    return scope;
  }

  /** The configured servers; connections whose entries are gone or disabled are closed when the files have changed. */
  async config(scope: Scope, configPath?: string): Promise<ConfigView> {
    const target = { cwd: scope.cwd, configPath };
    return this.#seen(scope, this.#config.current(target) ?? (await this.#config.load(target)));
  }

  /**
   * The settings of a target, ready to connect; at once where the files are known and unchanged.
   * @throws AdapterError `server_not_found`, `server_disabled`, `config_error`, `invalid_params`.
   */
  resolve(scope: Scope, { server = "", configPath, url }: Target): ServerSpec | Promise<ServerSpec> {
    if (url !== undefined) return specForUrl(url);
    const view = this.#config.current({ cwd: scope.cwd, configPath });
    if (view !== undefined) return this.#specOf(scope, this.#seen(scope, view), server);
    return this.config(scope, configPath).then((loaded) => this.#specOf(scope, loaded, server));
  }

  /** The connection of a server, approved and made if there is none. */
  async connect(scope: Scope, spec: ServerSpec, options: AcquireOptions): Promise<Lease> {
    if (this.#shutdown !== undefined) throw new AdapterError("shutdown", {});
    const connection = this.registry.peek(scope, spec);
    if (connection !== undefined) return { connection, isNew: false };
    await this.approval.start(scope, spec, options.cancellation);
    return this.registry.acquire(scope, spec, options);
  }

  /**
   * A fresh list of one kind: the discovery begins after this was called. Met by a dead session or a stale socket it is sent
   * once more, on a fresh connection.
   */
  async discover(scope: Scope, spec: ServerSpec, kind: ListKind, options: AcquireOptions): Promise<Discovered> {
    const known = this.registry.peek(scope, spec);
    const connection = known ?? (await this.connect(scope, spec, options)).connection;
    requireCapability(connection, kind);
    try {
      return { connection, catalog: await connection.listing(kind).discover(options) };
    } catch (error) {
      if (options.cancellation.cancelled) throw error;
      return this.#discoverAgain(scope, spec, kind, options, { connection, isNew: known === undefined }, error);
    }
  }

  /** Runs work on a server that may have to wait for a person, and shows the waiting to this caller. */
  noticing<T>(scope: Scope, spec: ServerSpec, show: (text: string) => void, work: () => Promise<T>): Promise<T> {
    if (spec.endpoint.kind === "stdio") return work();
    const listener = (waiting: Scope, server: string, text: string): void => {
      if (waiting.key === scope.key && server === spec.name) show(text);
    };
    this.#notices.add(listener);
    return work().finally(() => this.#notices.delete(listener));
  }

  /** Idempotent; ends every connection and file. Resolves within the shutdown bound. */
  shutdown(): Promise<void> {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  async #end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.limits.shutdownMs);
    });
    await Promise.race([Promise.all([this.registry.shutdown(), this.spill.clear()]), bound]);
    clearTimeout(timer);
    this.#deadlines.stop();
  }

  async #discoverAgain(
    scope: Scope,
    spec: ServerSpec,
    kind: ListKind,
    options: AcquireOptions,
    { connection, isNew }: Lease,
    error: unknown,
  ): Promise<Discovered> {
    const remedy = remedyFor(error, connection);
    // A session that was made for this call is not dead; what it refuses it would refuse again.
    if (remedy === "none" || (remedy === "session" && isNew)) throw error;
    if (remedy === "socket") {
      connection.listing(kind).askFresh();
      return { connection, catalog: await connection.listing(kind).discover(options) };
    }
    this.registry.discard(scope, connection);
    const again = await this.connect(scope, spec, options);
    requireCapability(again.connection, kind);
    return { connection: again.connection, catalog: await again.connection.listing(kind).discover(options) };
  }

  #specOf(scope: Scope, view: ConfigView, server: string): ServerSpec {
    const entry = view.servers.get(server);
    if (entry === undefined) throw unknownServer(server, view);
    if (entry.error !== undefined) throw entry.error;
    if (!entry.enabled) throw new AdapterError("server.disabled", { server: entry.name, configPath: entry.configPath });
    const spec = entry.spec(scope);
    this.redactor.add(spec.secrets);
    return spec;
  }

  #seen(scope: Scope, view: ConfigView): ConfigView {
    let scopes = this.#views.get(view);
    if (scopes === undefined) {
      scopes = new Set();
      this.#views.set(view, scopes);
    }
    if (!scopes.has(scope.key)) {
      scopes.add(scope.key);
      this.#closeGone(scope, view);
    }
    return view;
  }

  #makeScope(givenCwd: unknown, givenSession: unknown): Scope {
    const given = typeof givenCwd === "string" && givenCwd !== "" ? givenCwd : undefined;
    const cwd = this.#realPath(given ?? process.cwd());
    if (typeof givenSession === "string" && givenSession !== "")
      return { key: `session:${givenSession}`, cwd, sessionId: givenSession };
    return { key: given === undefined ? "library" : `project:${cwd}`, cwd };
  }

  #closeGone(scope: Scope, view: ConfigView): void {
    for (const { name, spec } of this.registry.status(scope)) {
      if (spec.configPath === undefined || !view.files.includes(spec.configPath)) continue;
      const entry = view.servers.get(name);
      if (entry?.enabled !== true || entry.configPath !== spec.configPath) void this.registry.close(scope, spec);
    }
  }

  #realPath(path: string): string {
    const known = this.#realPaths.get(path);
    if (known !== undefined) return known;
    let real = path;
    try {
      real = realpathSync(path);
    } catch {
      // A folder that does not exist names itself; what is started there fails with its own error.
    }
    if (this.#realPaths.size > 256) this.#realPaths.clear();
    this.#realPaths.set(path, real);
    return real;
  }

  async #authorizer(spec: ServerSpec, { scope, wait }: Attempt): Promise<Authorizer> {
    const { SignIns } = await import("./sign-in.ts");
    this.#signIns ??= new SignIns();
    const onWaiting = (host: string): void => {
      for (const listener of this.#notices) listener(scope, spec.name, `Waiting for the sign-in at ${host} …`);
    };
    const { services, limits, redactor } = this;
    return this.#signIns.authorizer(spec, {
      services,
      limits,
      redactor,
      clientInfo: this.#clientInfo,
      scope,
      onWaiting,
      wait,
    });
  }
}

type Remedy = "none" | "socket" | "session";

/** What may help a list request that failed on a connection made earlier. */
function remedyFor(error: unknown, connection: Connection): Remedy {
  if (!isAdapterError(error)) return "none";
  if (error.situation === "session.expired") return "session";
  // The server speaks other revisions than it did: it is asked anew which.
  if (error.situation === "version.unsupported") return "session";
  if (error.situation === "closed" || error.situation === "closed.stopped")
    // Only where each request has a connection of its own can the others be sound.
    return connection.session.isClosed || !connection.session.transport.ownStream ? "session" : "socket";
  return connection.session.dialect.wire.sessions && mayMeanDeadSession(error) ? "session" : "none";
}

/** Real servers say in many ways that they no longer know a session. */
function mayMeanDeadSession({ situation, details }: AdapterError): boolean {
  // An error for no request in particular is dropped: what is left is an exchange without an answer.
  if (situation === "protocol.noAnswer") return true;
  if (situation !== "http.status" && situation !== "rpc.error") return false;
  const status: unknown = (details as Readonly<Record<string, unknown>>)["status"];
  return typeof status === "number" && status >= 400 && status < 500 && status !== 429 && status !== 408;
}

function requireCapability(connection: Connection, kind: ListKind): void {
  if (connection.advertises(kind)) return;
  const { capability, method } = LISTS[kind];
  throw new AdapterError("capability.missing", {
    server: connection.session.server,
    capability,
    method,
    advertised: connection.capabilities,
  });
}

function unknownServer(server: string, view: ConfigView): AdapterError {
  const problems = view.problems.map((problem) => problem.error.message);
  const [only] = view.problems;
  // With an explicit file that cannot be read, the file is the matter.
  if (view.servers.size === 0 && only !== undefined && view.problems.length === 1) return only.error;
  return new AdapterError("server.unknown", {
    server,
    configured: [...view.servers.keys()],
    ...(problems.length === 0 ? {} : { problems }),
  });
}
