import { Cancellation } from "../cancellation.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { PersonWait } from "../person-wait.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Transport } from "../transport/transport.ts";
import type { Connection } from "./connection.ts";

/** Whose connections: those of one host session, of one project, or of a program without either. */
export interface Scope {
  /** `session:<id>`, `project:<real cwd>` or `library`. */
  readonly key: string;
  readonly cwd: string;
  readonly sessionId?: string;
}

/** Everything one attempt to connect may use. */
export interface Attempt {
  readonly spec: ServerSpec;
  readonly scope: Scope;
  readonly cancellation: Cancellation;
  /** The revision this server spoke last time. */
  readonly hint: string | undefined;
  readonly onTransport: (transport: Transport) => void;
  readonly onClosed: () => void;
  readonly wait: PersonWait;
}

export type Connect = (attempt: Attempt) => Promise<Connection>;

export interface AcquireOptions {
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
}

export interface Lease {
  readonly connection: Connection;
  /** It was made for this call: what fails on it now would fail again. */
  readonly isNew: boolean;
}

interface Slot {
  readonly scope: Scope;
  readonly name: string;
  spec: ServerSpec;
  connection: Connection | undefined;
  connecting: Connecting | undefined;
  readonly transports: Set<Transport>;
}

interface Connecting {
  readonly promise: Promise<Connection>;
  readonly cancellation: Cancellation;
  readonly wait: PersonWait;
  waiters: number;
  transport: Transport | undefined;
}

/** The live connections of one plugin: one for each scope, config file (or URL) and server; made on demand, once. */
export class Registry {
  readonly #connect: Connect;
  readonly #limits: Limits;
  readonly #slots = new Map<string, Slot>();
  readonly #closing = new Set<Promise<void>>();
  /** What each server spoke last, by its settings. */
  readonly #spoken = new Map<string, string>();
  #isShutDown = false;

  constructor(connect: Connect, limits: Limits) {
    this.#connect = connect;
    this.#limits = limits;
  }

  /** The live connection if there is one; connecting nothing. */
  peek(scope: Scope, spec: ServerSpec): Connection | undefined {
    const slot = this.#slots.get(slotKey(scope, spec));
    return slot !== undefined && serves(slot.spec, spec) ? slot.connection : undefined;
  }

  /**
   * The connection of this server, made if there is none; parallel first calls share one attempt.
   * @throws AdapterError as `connect` does; `timeout` and `cancelled` for this caller alone; `limit_exceeded`.
   */
  async acquire(scope: Scope, spec: ServerSpec, options: AcquireOptions): Promise<Lease> {
    if (options.cancellation.cancelled) throw new AdapterError("cancelled", { server: spec.name });
    const key = slotKey(scope, spec);
    let slot = this.#slots.get(key);
    if (slot !== undefined && slot.spec !== spec) {
      if (!serves(slot.spec, spec)) {
        void this.#drop(key, slot);
        slot = undefined;
      } else slot.spec = spec;
    }
    if (slot?.connection !== undefined) return { connection: slot.connection, isNew: false };
    slot ??= this.#reserve(key, scope, spec);
    slot.connecting ??= this.#start(key, slot);
    return { connection: await this.#join(key, slot, slot.connecting, options), isNew: true };
  }

  /** Drops this connection if it is still the one in use; the next call makes a new one. */
  discard(scope: Scope, connection: Connection): void {
    const key = slotKey(scope, connection.spec);
    const slot = this.#slots.get(key);
    if (slot?.connection === connection) void this.#drop(key, slot);
  }

  /** Releases one connection; resolves when it is down. Whether there was one. */
  async close(scope: Scope, spec: Pick<ServerSpec, "name" | "configPath" | "endpoint">): Promise<boolean> {
    const key = slotKey(scope, spec);
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    await this.#drop(key, slot);
    return true;
  }

  /** The connections of one scope. */
  status(
    scope: Scope,
  ): readonly { readonly name: string; readonly spec: ServerSpec; readonly connection: Connection | undefined }[] {
    return [...this.#slots.values()].filter((slot) => slot.scope.key === scope.key);
  }

  /** Closes everything, in parallel, and refuses new connections; resolves when all is down. */
  async shutdown(): Promise<void> {
    this.#isShutDown = true;
    for (const [key, slot] of this.#slots) void this.#drop(key, slot);
    // What was being opened may still bring up something to close.
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }

  #reserve(key: string, scope: Scope, spec: ServerSpec): Slot {
    if (this.#isShutDown) throw new AdapterError("shutdown", {});
    if (this.#slots.size >= this.#limits.connections) {
      const open = [...this.#slots.values()].filter((slot) => slot.scope.key === scope.key).map((slot) => slot.name);
      throw new AdapterError("limit.connections", { limit: this.#limits.connections, open });
    }
    const slot: Slot = {
      scope,
      name: spec.name,
      spec,
      connection: undefined,
      connecting: undefined,
      transports: new Set(),
    };
    this.#slots.set(key, slot);
    return slot;
  }

  #start(key: string, slot: Slot): Connecting {
    const { spec, scope } = slot;
    const cancellation = new Cancellation();
    const hint = this.#spoken.get(spec.fingerprint);
    const onTransport = (transport: Transport): void => {
      slot.transports.add(transport);
      connecting.transport = transport;
    };
    const onClosed = (): void => this.#gone(key, slot);
    const wait = new PersonWait();
    const promise = this.#connect({ spec, scope, cancellation, hint, onTransport, onClosed, wait }).then(
      (connection) => {
        this.#learn(spec.fingerprint, connection.protocolVersion);
        slot.connecting = undefined;
        if (this.#slots.get(key) !== slot) {
          void this.#track(connection.session.close());
          throw this.#released(slot);
        }
        if (connection.session.isClosed) this.#gone(key, slot);
        else slot.connection = connection;
        return connection;
      },
      (error: unknown) => {
        this.#spoken.delete(spec.fingerprint);
        const released = this.#slots.get(key) !== slot;
        this.#gone(key, slot);
        throw released ? this.#released(slot) : error;
      },
    );
    const connecting: Connecting = { promise, cancellation, wait, waiters: 0, transport: undefined };
    // Every waiter may have left before it fails; they were told why.
    promise.catch(nothing);
    return connecting;
  }

  /** Waits for a shared attempt with a deadline of one's own; the attempt is given up when the last waiter leaves. */
  #join(
    key: string,
    slot: Slot,
    connecting: Connecting,
    { timeoutMs, cancellation }: AcquireOptions,
  ): Promise<Connection> {
    const server = slot.name;
    if (cancellation.cancelled) return Promise.reject(new AdapterError("cancelled", { server }));
    connecting.waiters++;
    return new Promise<Connection>((resolve, reject) => {
      const leave = (error: AdapterError): void => {
        settle();
        reject(error);
        if (connecting.waiters === 0 && slot.connecting === connecting) {
          connecting.cancellation.cancel();
          void this.#track(connecting.promise.then(nothing, nothing));
          this.#gone(key, slot);
        }
      };
      const onTimeout = (): void => {
        const more = connecting.wait.putOff(timeoutMs);
        if (more > 0) {
          timer = setTimeout(onTimeout, more);
          return;
        }
        const diagnostics = connecting.transport?.diagnostics() ?? {};
        leave(
          new AdapterError("timeout", {
            server,
            method: "initialize",
            phase: "connect",
            seconds: timeoutMs / 1000,
            outcomeUnknown: false,
            ...diagnostics,
          }),
        );
      };
      let timer = setTimeout(onTimeout, timeoutMs);
      const release = cancellation.onCancel(() => leave(new AdapterError("cancelled", { server })));
      let settled = false;
      const settle = (): void => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        release();
        connecting.waiters--;
      };
      connecting.promise.then(
        (connection) => {
          settle();
          resolve(connection);
        },
        (error: unknown) => {
          settle();
          reject(error);
        },
      );
    });
  }

  /** The slot's connection ended by itself, or was never made: what is left of it is closed, and the slot is free. */
  #gone(key: string, slot: Slot): void {
    if (this.#slots.get(key) === slot) this.#slots.delete(key);
    slot.connection = undefined;
    slot.connecting = undefined;
    for (const transport of slot.transports) void this.#track(transport.close());
    slot.transports.clear();
  }

  #drop(key: string, slot: Slot): Promise<void> {
    const { connection, connecting } = slot;
    this.#slots.delete(key);
    slot.connection = undefined;
    connecting?.cancellation.cancel();
    const work: Promise<unknown>[] = connection === undefined ? [] : [connection.session.close()];
    for (const transport of slot.transports) work.push(transport.close());
    // Cancelled, it ends soon; until then it may still start something.
    if (connecting !== undefined) work.push(connecting.promise.then(nothing, nothing));
    slot.transports.clear();
    return this.#track(Promise.all(work).then(() => undefined));
  }

  /** Told to those who wait for a connection that was released while it was being made. */
  #released({ name: server }: Slot): AdapterError {
    return new AdapterError("closed.stopped", { server, outcomeUnknown: false });
  }

  #learn(fingerprint: string, version: string): void {
    this.#spoken.delete(fingerprint);
    this.#spoken.set(fingerprint, version);
    if (this.#spoken.size <= 4 * this.#limits.connections) return;
    for (const oldest of this.#spoken.keys()) {
      this.#spoken.delete(oldest);
      return;
    }
  }

  #track(closing: Promise<void>): Promise<void> {
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
    return closing;
  }
}

function nothing(): void {}

/** Whether a connection made with the one settings serves the other. */
function serves(made: ServerSpec, wanted: ServerSpec): boolean {
  return made === wanted || (made.fingerprint === wanted.fingerprint && made.stopOnCancel === wanted.stopOnCancel);
}

function slotKey(scope: Scope, spec: Pick<ServerSpec, "name" | "configPath" | "endpoint">): string {
  const where = spec.configPath ?? (spec.endpoint.kind === "http" ? spec.endpoint.url : "");
  // None of them can hold a NUL.
  return `${scope.key}\0${where}\0${spec.name}`;
}
