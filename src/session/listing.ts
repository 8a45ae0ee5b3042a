import { type CancelListener, Cancellation } from "../cancellation.ts";
import { cut } from "../cut.ts";
import type { Deadline } from "../deadlines.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { isObject, METHOD_NOT_FOUND } from "../protocol/jsonrpc.ts";
import { soon } from "../soon.ts";
import { type Catalog, LISTS, type ListKind, makeCatalog, type Page } from "./catalog.ts";
import type { Answer, GaveUp } from "./pending.ts";
import { RememberedPage } from "./remembered.ts";
import { listError } from "./rpc-error.ts";
import type { Session } from "./session.ts";

export interface DiscoverOptions {
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
}

/** One pass over all pages of a list, and the callers that wait for it. */
class Walk {
  readonly cancellation = new Cancellation();
  readonly #waiters: Waiter[] = [];
  #waiting = 0;

  /** Whether anybody waits for it still. */
  get isWanted(): boolean {
    return this.#waiting > 0;
  }

  join(waiter: Waiter): void {
    this.#waiters.push(waiter);
    this.#waiting++;
  }

  /** Called once for a waiter whose wait is over before the walk is. */
  leave(): void {
    this.#waiting--;
  }

  /** Also called for waiters who have left: their promises are settled already, so nothing happens. */
  resolve(catalog: Catalog): void {
    for (const waiter of this.#waiters) waiter.resolve(catalog);
  }

  /** As `resolve`. */
  reject(error: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(error);
  }
}

/**
 * The list of one kind (tools, resources, ...) of one connection. A discovery always begins after the call that needs it: callers that
 * arrive while a walk is in progress share the next one. Pages whose bytes are unchanged are not parsed again.
 */
export class Listing {
  readonly #session: Session;
  readonly #kind: ListKind;
  readonly #limits: Limits;
  readonly #pages: RememberedPage[] = [];
  #current: Walk | undefined;
  #next: Walk | undefined;
  #catalog: Catalog | undefined;
  #fresh = false;

  constructor(session: Session, kind: ListKind, limits: Limits) {
    this.#session = session;
    this.#kind = kind;
    this.#limits = limits;
  }

  /** The newest list, if there was one; nothing is sent. */
  get known(): Catalog | undefined {
    return this.#catalog;
  }

  /** Makes the next request of a page use a new HTTP connection, after one failed on a connection that had been idle. */
  askFresh(): void {
    this.#fresh = true;
  }

  /** @throws AdapterError `timeout` (the walk as a whole), `cancelled`, `rpc_error`, `protocol_error`, `limit_exceeded`, `closed`, ... */
  discover(options: DiscoverOptions): Promise<Catalog> {
    return new Promise<Catalog>((resolve, reject) => {
      if (options.cancellation.cancelled)
        return reject(new AdapterError("cancelled", { server: this.#session.server }));
      const walk = this.#following();
      walk.join(new Waiter(this.#session, options, resolve, reject, (waiter, why) => this.#leave(walk, waiter, why)));
    });
  }

  #leave(walk: Walk, waiter: Waiter, why: GaveUp): void {
    walk.leave();
    const { server, transport } = this.#session;
    if (why === "cancelled") waiter.reject(new AdapterError("cancelled", { server }));
    else {
      const facts = {
        server,
        method: LISTS[this.#kind].method,
        phase: "discovery",
        seconds: waiter.timeoutMs / 1000,
        outcomeUnknown: false,
      } as const;
      waiter.reject(new AdapterError("timeout", { ...facts, ...transport.diagnostics() }));
    }
    if (!walk.isWanted) this.#abandon(walk);
  }

  /** The walk that begins next: in a microtask, so that simultaneous callers share it, or when the current one is over. */
  #following(): Walk {
    if (this.#next !== undefined) return this.#next;
    this.#next = new Walk();
    if (this.#current === undefined) void soon(() => this.#startNext());
    return this.#next;
  }

  #startNext(): void {
    const next = this.#next;
    this.#next = undefined;
    if (next?.isWanted !== true) return;
    this.#current = next;
    void this.#run(next);
  }

  #abandon(walk: Walk): void {
    if (walk === this.#next) this.#next = undefined;
    walk.cancellation.cancel();
  }

  async #run(walk: Walk): Promise<void> {
    try {
      walk.resolve(await this.#walk(walk.cancellation));
    } catch (error) {
      walk.reject(error);
    }
    this.#current = undefined;
    this.#startNext();
  }

  async #walk(cancellation: Cancellation): Promise<Catalog> {
    const { method, key } = LISTS[this.#kind];
    const { server } = this.#session;
    const pages: Page[] = [];
    let seen: Set<unknown> | undefined;
    let cursor: unknown;
    let count = 0;
    let names = -1;
    let bytes = 0;
    for (;;) {
      const page = this.#complete(await this.#ask(pages.length, cursor, cancellation));
      const items = isObject(page) ? page[key] : undefined;
      // Null is what servers in Go make of a list without items.
      if (!isObject(page) || (items !== null && !Array.isArray(items)))
        throw new AdapterError("protocol.result", { server, method, reason: `${key} is not a list` });
      pages.push(page);
      if (cursor === "" && this.#names(pages) === names) {
        // Some servers give an empty cursor on their last page: it is followed once, and ends with a page that brings nothing new.
        pages.pop();
        break;
      }
      count += items?.length ?? 0;
      if (count > this.#limits.discoveryTools)
        throw new AdapterError("limit.items", { server, method, limit: this.#limits.discoveryTools });
      bytes += this.#pages[pages.length - 1]?.answerBytes ?? 0;
      if (bytes > this.#limits.discoveryBytes)
        throw new AdapterError("limit.list", { server, method, limitBytes: this.#limits.discoveryBytes });
      cursor = page["nextCursor"];
      if (cursor === undefined || cursor === null) break;
      if (typeof cursor !== "string")
        throw new AdapterError("protocol.result", { server, method, reason: "nextCursor is not a string" });
      if (seen?.has(cursor)) throw new AdapterError("protocol.cursor", { server, method, cursor: cut(cursor, 100) });
      seen ??= new Set();
      seen.add(cursor);
      if (pages.length >= this.#limits.discoveryPages)
        throw new AdapterError("limit.pages", { server, method, limit: this.#limits.discoveryPages });
      if (cursor === "") names = this.#names(pages);
    }
    if (this.#pages.length > pages.length) this.#pages.length = pages.length;
    return this.#remember(pages);
  }

  #ask(index: number, cursor: unknown, cancellation: Cancellation): Promise<Answer> {
    const { method } = LISTS[this.#kind];
    const page = this.#rememberedPage(index);
    const fresh = this.#fresh;
    this.#fresh = false;
    const params = cursor === undefined ? {} : { cursor };
    return this.#session.request(method, params, { cancellation, page, fresh });
  }

  /** The page in an answer. */
  #complete(answer: Answer): unknown {
    const { method, key } = LISTS[this.#kind];
    if ("error" in answer) {
      // Templates have no capability of their own, and some servers advertise whatever their SDK has.
      if (this.#kind !== "tools" && answer.error.code === METHOD_NOT_FOUND) return { [key]: [] };
      throw listError(this.#session, method, answer.error, answer.status);
    }
    const outcome = this.#session.dialect.decode(method, answer.result);
    if (outcome.kind === "complete") return outcome.result;
    const reason = outcome.kind === "invalid" ? outcome.reason : "a list asked for input";
    throw new AdapterError("protocol.result", { server: this.#session.server, method, reason });
  }

  #rememberedPage(index: number): RememberedPage {
    this.#pages[index] ??= new RememberedPage();
    const page = this.#pages[index];
    let room = this.#limits.rememberedListBytes;
    for (const other of this.#pages) if (other !== page) room -= other.bytes;
    page.roomBytes = room;
    return page;
  }

  #names(pages: readonly Page[]): number {
    return this.#catalogOf(pages).items.size;
  }

  /** The catalog of these pages; the remembered one if all pages are unchanged, which are then the same objects. */
  #remember(pages: readonly Page[]): Catalog {
    const known = this.#catalog;
    if (
      known !== undefined &&
      known.pages.length === pages.length &&
      known.pages.every((page, index) => page === pages[index])
    )
      return known;
    this.#catalog = this.#catalogOf(pages);
    return this.#catalog;
  }

  #catalogOf(pages: readonly Page[]): Catalog {
    const { dialect, transport } = this.#session;
    return makeCatalog(this.#kind, pages, { dialect, transport: transport.kind, limits: this.#limits });
  }
}

/** One caller of a shared walk, with a deadline and a cancellation of its own. */
class Waiter implements Deadline, CancelListener {
  readonly timeoutMs: number;
  dueAt = 0;
  place = -1;
  readonly #session: Session;
  readonly #cancellation: Cancellation;
  readonly #resolve: (catalog: Catalog) => void;
  readonly #reject: (error: unknown) => void;
  readonly #leave: (waiter: Waiter, why: GaveUp) => void;

  constructor(
    session: Session,
    { timeoutMs, cancellation }: DiscoverOptions,
    resolve: (catalog: Catalog) => void,
    reject: (error: unknown) => void,
    leave: (waiter: Waiter, why: GaveUp) => void,
  ) {
    this.timeoutMs = timeoutMs;
    this.#session = session;
    this.#cancellation = cancellation;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#leave = leave;
    session.deadlines.set(this, timeoutMs);
    cancellation.add(this);
  }

  resolve(catalog: Catalog): void {
    this.#end();
    this.#resolve(catalog);
  }

  reject(error: unknown): void {
    this.#end();
    this.#reject(error);
  }

  onDue(): void {
    const more = this.#session.wait.putOff(this.timeoutMs);
    if (more > 0) this.#session.deadlines.set(this, more);
    else this.#leave(this, "timeout");
  }

  onCancel(): void {
    this.#leave(this, "cancelled");
  }

  #end(): void {
    this.#session.deadlines.clear(this);
    this.#cancellation.delete(this);
  }
}
