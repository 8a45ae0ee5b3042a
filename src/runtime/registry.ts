import { setImmediate } from "node:timers";
import { atMost } from "../at-most.ts";
import type { Cancellation } from "../cancellation.ts";
import { AdapterError } from "../errors.ts";
import { keepNewest } from "../keep-newest.ts";
import type { Limits } from "../limits.ts";
import type { PersonWait } from "../person-wait.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Transport } from "../transport/transport.ts";
import type { Connection } from "./connection.ts";
import type { Scope } from "./scope.ts";
import { type Connect, type Patience, SharedAttempt } from "./shared-attempt.ts";
import type { Target } from "./target.ts";

/** A connection for one caller. */
export interface Lease {
  readonly connection: Connection;
  /** It was made for this call, so a stale connection cannot be what a failure on it is about. */
  readonly isNew: boolean;
}

export interface AcquireOptions extends Patience {
  /** What the caller asked for, which resolved to the settings. */
  readonly target: Target;
}

/** The read-only view of a slot. */
export type SlotStatus = Readonly<Pick<Slot, "scope" | "target" | "spec" | "connection">>;

/** The place of one connection: `connecting`, then `connection`; from either it is dropped at once, or replaced or retired until its last user leaves. */
interface Slot {
  readonly key: string;
  readonly scope: Scope;
  readonly target: Target;
  readonly spec: ServerSpec;
  connection: Connection | undefined;
  connecting: SharedAttempt | undefined;
  readonly transports: Set<Transport>;
  /** It was dropped: those who still wait for its attempt are told that it was closed. */
  isReleased: boolean;
}

/** The live connections of one plugin: one for each scope, config file (or URL) and server; made on demand, once. */
export class Registry {
  readonly #connect: Connect;
  readonly #limits: Limits;
  readonly #slots = new Map<string, Slot>();
  /** Closes in progress, with the key of the slot that each was in. */
  readonly #closing = new Map<Promise<void>, string>();
  /** Connections that new calls no longer get but that somebody still holds, with the key of the slot that each was in. */
  readonly #retired = new Map<Connection, string>();
  /** Slots that new calls no longer get but whose connection is still being made for earlier callers. */
  readonly #replaced = new Set<Slot>();
  /** The protocol revision that each server spoke last, by the fingerprint of its settings. */
  readonly #spoken = new Map<string, string>();
  #latestKey: { readonly scope: Scope; readonly spec: ServerSpec; readonly key: string } | undefined;
  #isShutDown = false;

  constructor(connect: Connect, limits: Limits) {
    this.#connect = connect;
    this.#limits = limits;
  }

  /** The live connection if there is one; connecting nothing. */
  peek(scope: Scope, spec: ServerSpec): Connection | undefined {
    const slot = this.#slots.get(this.#keyOf(scope, spec));
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
    if (slot !== undefined && !serves(slot.spec, spec)) {
      this.#replace(slot);
      slot = undefined;
    }
    if (slot?.connection !== undefined) return { connection: slot.connection, isNew: false };
    slot ??= this.#reserve(key, scope, spec, options.target);
    slot.connecting ??= this.#start(slot);
    return { connection: await slot.connecting.join(options), isNew: true };
  }

  /**
   * Takes this connection out of use, if it is the one in use: the next call makes a new one. What other calls still wait for
   * on it is not cut off; it is closed when the last of them has released it.
   */
  discard(scope: Scope, connection: Connection): void {
    const key = slotKey(scope, connection.spec);
    const slot = this.#slots.get(key);
    if (slot?.connection === connection) this.#retire(slot, connection);
  }

  /** Takes the connection, or the attempt to make one, out of use; it is closed when its last user has released it. */
  release(scope: Scope, spec: ServerSpec): void {
    const slot = this.#slots.get(slotKey(scope, spec));
    if (slot?.spec === spec) this.#replace(slot);
  }

  /** Closes one connection, if there is one; resolves when it is down. */
  async close(scope: Scope, spec: ServerSpec): Promise<void> {
    const key = slotKey(scope, spec);
    const slots = this.#all().filter((slot) => slot.key === key);
    await Promise.all(slots.map((slot) => this.#drop(slot)));
  }

  /** The sign-in wait of the attempt to connect that is in progress, if any. */
  waitOf(scope: Scope, spec: ServerSpec): PersonWait | undefined {
    return this.#slots.get(this.#keyOf(scope, spec))?.connecting?.wait;
  }

  /** The slots of one scope, including replaced ones that are still connecting. */
  status(scope: Scope): readonly SlotStatus[] {
    return this.#all().filter((slot) => slot.scope.key === scope.key);
  }

  /** Closes everything, in parallel, and refuses new connections; resolves when all is down. */
  async shutdown(): Promise<void> {
    this.#isShutDown = true;
    for (const slot of this.#all()) void this.#drop(slot);
    for (const [connection, key] of this.#retired) void this.#track(key, connection.session.close());
    this.#retired.clear();
    // What was being opened may still bring up something to close.
    while (this.#closing.size > 0) await Promise.all(this.#closing.keys());
  }

  #all(): Slot[] {
    return [...this.#slots.values(), ...this.#replaced];
  }

  /** The key, remembered for the latest server: most calls are for the same one as the call before. */
  #keyOf(scope: Scope, spec: ServerSpec): string {
    const latest = this.#latestKey;
    if (latest?.scope === scope && latest.spec === spec) return latest.key;
    const key = slotKey(scope, spec);
    this.#latestKey = { scope, spec, key };
    return key;
  }

  #reserve(key: string, scope: Scope, spec: ServerSpec, target: Target): Slot {
    if (this.#isShutDown) throw new AdapterError("shutdown", {});
    const { connections: limit } = this.#limits;
    if (this.#slots.size >= limit || this.#replaced.size >= limit) {
      const open = this.status(scope).map(({ spec: { name } }) => name);
      throw new AdapterError("limit.connections", { limit, open });
    }
    const slot: Slot = {
      key,
      scope,
      target,
      spec,
      connection: undefined,
      connecting: undefined,
      transports: new Set(),
      isReleased: false,
    };
    this.#slots.set(key, slot);
    return slot;
  }

  #start(slot: Slot): SharedAttempt {
    const { spec, scope } = slot;
    const attempt = new SharedAttempt(spec.name, () => {
      if (slot.connecting === attempt) void this.#drop(slot);
    });
    const { cancellation, wait } = attempt;
    const hint = this.#spoken.get(spec.fingerprint);
    const onTransport = (transport: Transport): void => {
      slot.transports.add(transport);
      attempt.transport = transport;
    };
    const onClosed = (): void => this.#gone(slot);
    const onExpired = (): void => {
      if (slot.connection !== undefined) this.#retire(slot, slot.connection);
    };
    const open = (): Promise<Connection> =>
      this.#connect({ spec, scope, cancellation, hint, onTransport, onClosed, onExpired, wait });
    attempt.begin(
      (this.#hasPredecessor(slot) ? this.#predecessorEnded(slot, cancellation).then(open) : open()).then(
        (connection) => this.#made(slot, connection),
        (error: unknown) => {
          this.#spoken.delete(spec.fingerprint);
          this.#gone(slot);
          throw slot.isReleased ? this.#released(slot) : error;
        },
      ),
    );
    return attempt;
  }

  /** Only a program can need what another still holds: a port, a lock, a profile. */
  #hasPredecessor({ key, spec }: Slot): boolean {
    if (spec.endpoint.kind !== "stdio") return false;
    return [...this.#closing.values(), ...this.#retired.values()].includes(key);
  }

  async #predecessorEnded({ key }: Slot, cancellation: Cancellation): Promise<void> {
    // What was taken out of use in this turn of the event loop is closed at its end, unless somebody has it.
    await new Promise((resolve) => setImmediate(resolve));
    // Given up, this attempt is itself among what is being closed, which waits for its end.
    if (cancellation.cancelled) return;
    const endings = [...this.#closing].flatMap(([closing, of]) => (of === key ? [closing] : []));
    await atMost(Promise.all(endings), this.#limits.shutdownMs, undefined);
  }

  #made(slot: Slot, connection: Connection): Connection {
    keepNewest(this.#spoken, slot.spec.fingerprint, connection.protocolVersion, 4 * this.#limits.connections);
    slot.connecting = undefined;
    if (slot.isReleased) {
      void this.#track(slot.key, connection.session.close());
      throw this.#released(slot);
    }
    if (this.#slots.get(slot.key) !== slot) this.#retire(slot, connection);
    else if (connection.session.isClosed) this.#gone(slot);
    else slot.connection = connection;
    return connection;
  }

  /** Frees the key for a slot with other settings; callers with the earlier settings keep, or still get, theirs. */
  #replace(slot: Slot): void {
    if (slot.connection !== undefined) this.#retire(slot, slot.connection);
    else {
      this.#slots.delete(slot.key);
      this.#replaced.add(slot);
    }
  }

  #retire(slot: Slot, connection: Connection): void {
    this.#forget(slot);
    slot.connection = undefined;
    slot.transports.clear();
    this.#retired.set(connection, slot.key);
    // A caller that was just given it calls `hold` only in a later microtask: it is kept until this turn of the event loop ends.
    connection.hold();
    setImmediate(() => connection.release());
    connection.whenFree(() => {
      if (this.#retired.delete(connection)) void this.#track(slot.key, connection.session.close());
    });
  }

  /** The slot's connection ended by itself, or was never made: what is left of it is closed, and the slot is free. */
  #gone(slot: Slot): void {
    this.#forget(slot);
    slot.connection = undefined;
    slot.connecting = undefined;
    for (const transport of slot.transports) void this.#track(slot.key, transport.close());
    slot.transports.clear();
  }

  #drop(slot: Slot): Promise<void> {
    const { connection, connecting } = slot;
    this.#forget(slot);
    slot.isReleased = true;
    slot.connection = undefined;
    if (connection !== undefined) connection.isDropped = true;
    connecting?.cancellation.cancel();
    const work: Promise<unknown>[] = connection === undefined ? [] : [connection.session.close()];
    for (const transport of slot.transports) work.push(transport.close());
    // Cancelled, it ends soon; until then it may still start something.
    if (connecting !== undefined) work.push(connecting.over());
    slot.transports.clear();
    const down = Promise.all(work).then(() => undefined);
    return this.#track(slot.key, down);
  }

  #forget(slot: Slot): void {
    if (this.#slots.get(slot.key) === slot) this.#slots.delete(slot.key);
    this.#replaced.delete(slot);
  }

  /** The error for those who waited for a connection that was dropped while it was being made. */
  #released({ spec: { name: server } }: Slot): AdapterError {
    return new AdapterError("closed.stopped", { server, outcomeUnknown: false });
  }

  #track(key: string, closing: Promise<void>): Promise<void> {
    this.#closing.set(closing, key);
    void closing.finally(() => this.#closing.delete(closing));
    return closing;
  }
}

/** Whether a connection made with the first settings can be used for the second. */
function serves(made: ServerSpec, wanted: ServerSpec): boolean {
  return made === wanted || (made.fingerprint === wanted.fingerprint && made.stopOnCancel === wanted.stopOnCancel);
}

function slotKey(scope: Scope, spec: ServerSpec): string {
  const where = spec.configPath ?? (spec.endpoint.kind === "http" ? spec.endpoint.url : "");
  // None of them can hold a NUL.
  return `${scope.key}\0${where}\0${spec.name}`;
}
