import { atMost } from "../at-most.ts";
import type { Authorizer } from "../authorizer.ts";
import { clock } from "../clock.ts";
import type { HostServices, Trust } from "../contract.ts";
import { Deadlines } from "../deadlines.ts";
import { AdapterError, isAdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { processFolder } from "../process-folder.ts";
import type { ClientIdentity } from "../protocol/dialect.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { realPathOrItself } from "../real-path.ts";
import { Redactor } from "../redactor.ts";
import { Roster, type Rostered } from "../roster.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type Catalog, LISTS, type ListKind } from "../session/catalog.ts";
import { speaksOfSession } from "../session/request-error.ts";
import { Approval } from "./approval.ts";
import type { Connection } from "./connection.ts";
import { connector } from "./open-connection.ts";
import { type AcquireOptions, type Lease, Registry } from "./registry.ts";
import type { Scope } from "./scope.ts";
import { Settings } from "./settings.ts";
import type { Attempt } from "./shared-attempt.ts";
import type { SignIns } from "./sign-in.ts";
import { Spill } from "./spill.ts";
import type { StepContext } from "./step.ts";

export interface RuntimeOptions {
  readonly services: HostServices;
  readonly trust: Trust;
  readonly limits: Limits;
  readonly clientInfo: ClientIdentity["info"];
}

/** A list, and the connection it came over, which is held for the caller: it must call `release`. */
export interface Discovered {
  readonly connection: Connection;
  readonly catalog: Catalog;
}

/** How long the real path of a working directory is remembered: the directory may be a link, and links change. */
const REAL_PATH_MS = 1000;

/** A step that shows a message while its server waits for a person to sign in. */
interface Waiting extends Rostered {
  /** The key of its scope. */
  readonly key: string;
  readonly server: string;
  readonly show: (text: string) => void;
}

/** Everything that lives behind the tools of one plugin: config, connections, private files, known secrets. */
export class Runtime {
  readonly limits: Limits;
  readonly redactor = new Redactor();
  readonly spill = new Spill();
  readonly approval: Approval;
  readonly registry: Registry;
  readonly settings: Settings;
  readonly #services: HostServices;
  readonly #clientInfo: ClientIdentity["info"];
  readonly #deadlines = new Deadlines();
  #latestScope:
    | { readonly cwd: unknown; readonly sessionId: unknown; readonly scope: Scope; readonly until: number }
    | undefined;
  readonly #waiting = new Roster<Waiting>();
  #signIns: SignIns | undefined;
  #shutdown: Promise<void> | undefined;

  constructor({ services, trust, limits, clientInfo }: RuntimeOptions) {
    this.limits = limits;
    this.#services = services;
    this.#clientInfo = clientInfo;
    this.approval = new Approval({ services, trust, redactor: this.redactor });
    const authorizer = (spec: ServerSpec, attempt: Attempt): Promise<Authorizer> => this.#authorizer(spec, attempt);
    this.registry = new Registry(
      connector({ services, limits, clientInfo, redactor: this.redactor, deadlines: this.#deadlines, authorizer }),
      limits,
    );
    this.settings = new Settings({ limits, redactor: this.redactor, registry: this.registry });
  }

  /** The scope of a call, from the context that its host injected. */
  scope(context: { readonly cwd?: unknown; readonly sessionId?: unknown } | undefined): Scope {
    const cwd = context?.cwd;
    const sessionId = context?.sessionId;
    const latest = this.#latestScope;
    const now = clock.now();
    // Without a `cwd` it is that of the process, which may change at any time, so nothing is remembered for it.
    const isKnown = latest !== undefined && cwd !== undefined && latest.cwd === cwd && latest.sessionId === sessionId;
    if (isKnown && now < latest.until) return latest.scope;
    const scope = this.#makeScope(cwd, sessionId);
    this.#latestScope = { cwd, sessionId, scope, until: now + REAL_PATH_MS };
    return scope;
  }

  /** The connection of a server, approved and made if there is none. */
  async connect(scope: Scope, spec: ServerSpec, options: AcquireOptions): Promise<Lease> {
    if (this.#shutdown !== undefined) throw new AdapterError("shutdown", {});
    const connection = this.#open(scope, spec);
    if (connection !== undefined) return { connection, isNew: false };
    const { cancellation, target } = options;
    if (await this.approval.start(scope, spec, cancellation)) await this.settings.assertCurrent(scope, target, spec);
    return this.registry.acquire(scope, spec, options);
  }

  /**
   * A fresh list of one kind: the discovery begins after this was called. Met by a dead session or a stale socket it is sent
   * once more, on a fresh connection.
   */
  discover(scope: Scope, spec: ServerSpec, kind: ListKind, options: AcquireOptions): Promise<Discovered> {
    const connection = this.#open(scope, spec);
    if (connection !== undefined) return this.#list({ connection, isNew: false }, scope, spec, kind, options);
    return this.connect(scope, spec, options).then((lease) => this.#list(lease, scope, spec, kind, options));
  }

  #open(scope: Scope, spec: ServerSpec): Connection | undefined {
    return this.approval.isUsable(spec) ? this.registry.peek(scope, spec) : undefined;
  }

  /** Shows the step, until `end` is called, when its server waits for a person to sign in. `undefined` for a server that never signs in. */
  tellOfSignIn(
    scope: Scope,
    spec: ServerSpec,
    { partial }: Pick<StepContext, "partial">,
  ): { readonly end: () => void } | undefined {
    if (spec.endpoint.kind === "stdio") return undefined;
    const show = (text: string): void => partial({ content: [{ type: "text", text }] });
    const waiting: Waiting = { place: -1, key: scope.key, server: spec.name, show };
    this.#waiting.add(waiting);
    const said = this.registry.waitOf(scope, spec)?.said;
    if (said !== undefined) show(said);
    return { end: () => this.#waiting.delete(waiting) };
  }

  /** Idempotent; ends every connection and file. Resolves within the shutdown bound. */
  shutdown(): Promise<void> {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  async #end(): Promise<void> {
    // A token renewal in progress may finish: the server may have invalidated the old refresh token already.
    const connections = this.registry.shutdown().then(() => this.#signIns?.over());
    await atMost(Promise.all([connections, this.spill.clear()]), this.limits.shutdownMs, undefined);
    this.#deadlines.stop();
  }

  #list(lease: Lease, scope: Scope, spec: ServerSpec, kind: ListKind, options: AcquireOptions): Promise<Discovered> {
    return list(lease.connection, kind, options, (error) => this.#listAgain(scope, spec, kind, options, lease, error));
  }

  async #listAgain(
    scope: Scope,
    spec: ServerSpec,
    kind: ListKind,
    options: AcquireOptions,
    { connection, isNew }: Lease,
    error: unknown,
  ): Promise<Discovered> {
    const remedy = remedyFor(error, connection);
    // A session that was made for this call is not dead; what it refuses it would refuse again.
    if (remedy === "none" || connection.isDropped || (remedy === "session" && isNew)) throw error;
    if (remedy === "socket") {
      connection.listing(kind).askFresh();
      return list(connection, kind, options);
    }
    this.registry.discard(scope, connection);
    return list((await this.connect(scope, spec, options)).connection, kind, options);
  }

  #makeScope(givenCwd: unknown, givenSession: unknown): Scope {
    const given = typeof givenCwd === "string" && givenCwd !== "" ? givenCwd : undefined;
    // A folder that does not exist names itself; what is started there fails with its own error.
    const cwd = realPathOrItself(given ?? processFolder());
    if (typeof givenSession === "string" && givenSession !== "")
      return { key: `session:${givenSession}`, cwd, sessionId: givenSession };
    return { key: given === undefined ? "library" : `project:${cwd}`, cwd };
  }

  async #authorizer(spec: ServerSpec, { scope, wait }: Attempt): Promise<Authorizer> {
    const { SignIns } = await import("./sign-in.ts");
    this.#signIns ??= new SignIns();
    const onWaiting = (host: string): void => {
      const text = `Waiting for the sign-in at ${host} …`;
      wait.said = text;
      for (const { key, server, show } of this.#waiting.all())
        if (key === scope.key && server === spec.name) show(text);
    };
    const { limits, redactor } = this;
    return this.#signIns.authorizer(spec, {
      services: this.#services,
      limits,
      redactor,
      clientInfo: this.#clientInfo,
      scope,
      onWaiting,
      wait,
    });
  }
}

/** One discovery on this connection, which stays held for the caller if it succeeds; `again` handles a failure. */
function list(
  connection: Connection,
  kind: ListKind,
  options: AcquireOptions,
  again?: (error: unknown) => Promise<Discovered>,
): Promise<Discovered> {
  if (!connection.advertises(kind)) return Promise.reject(notOffered(connection, kind));
  connection.hold();
  return connection
    .listing(kind)
    .discover(options)
    .then(
      (catalog) => ({ connection, catalog }),
      (error: unknown) => {
        try {
          if (again === undefined || options.cancellation.cancelled) throw error;
          return again(error);
        } finally {
          // Only now that `again` has taken its own hold: the last release closes a connection that was replaced.
          connection.release();
        }
      },
    );
}

type Remedy = "none" | "socket" | "session";

/** How a list request that failed on an existing connection can be retried: not at all, on a fresh socket, or with a new session. */
function remedyFor(error: unknown, connection: Connection): Remedy {
  if (!isAdapterError(error)) return "none";
  if (error.situation === "session.expired") return "session";
  // The server speaks other revisions than it did: it is asked anew which.
  if (error.situation === "version.unsupported") return "session";
  if (error.situation === "closed" || error.situation === "closed.stopped")
    // Only where each request has a connection of its own can the others be sound.
    return connection.session.isClosed || !connection.session.transport.ownStream ? "session" : "socket";
  const hasSessions = connection.spec.endpoint.kind === "http" && connection.session.dialect.wire.sessions;
  return hasSessions && mayMeanDeadSession(error) ? "session" : "none";
}

/** Whether an error may mean that the server has lost the session: servers say so with almost any 4xx status, or only in words. */
function mayMeanDeadSession({ situation, details }: AdapterError): boolean {
  // A server that did not answer the list may have sent an error without an id instead.
  if (situation === "protocol.noAnswer") return true;
  const { status, body, rpcError, asked } = details;
  if (asked === true) return false; // A new session would ask the person again.
  if (speaksOfSession(isObject(rpcError) ? rpcError["message"] : body)) return true;
  if (situation !== "http.status" && situation !== "rpc.error") return false;
  return typeof status === "number" && status >= 400 && status < 500 && status !== 429 && status !== 408;
}

function notOffered(connection: Connection, kind: ListKind): AdapterError {
  const { capability, method } = LISTS[kind];
  return new AdapterError("capability.missing", {
    server: connection.session.server,
    capability,
    method,
    advertised: connection.capabilities,
  });
}
