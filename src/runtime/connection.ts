import { cut } from "../cut.ts";
import type { Limits } from "../limits.ts";
import type { PersonWait } from "../person-wait.ts";
import type { ServerSpec } from "../server-spec.ts";
import { LISTS, type ListKind } from "../session/catalog.ts";
import type { InputPort } from "../session/input.ts";
import { Listing } from "../session/listing.ts";
import type { Session } from "../session/session.ts";

/** A server's description of itself beyond this is reduced to its names. */
const INFO_CHARACTERS = 2000;
/** Of its name, title and version each. */
const TEXT_CHARACTERS = 200;
const MAX_CAPABILITIES = 50;
const CAPABILITY_CHARACTERS = 100;

/** One live connection: its conversation, and what was discovered over it. */
export class Connection {
  readonly spec: ServerSpec;
  readonly session: Session;
  readonly input: InputPort;
  readonly limits: Limits;
  /** It was closed on purpose: a request that fails because of that must not reconnect. */
  isDropped = false;
  readonly #wait: PersonWait | undefined;
  readonly #listings = new Map<ListKind, Listing>();
  #users = 0;
  #onFree: (() => void) | undefined;

  constructor(options: {
    spec: ServerSpec;
    session: Session;
    input: InputPort;
    limits: Limits;
    wait?: PersonWait | undefined;
  }) {
    this.#wait = options.wait;
    this.spec = options.spec;
    this.session = options.session;
    this.input = options.input;
    this.limits = options.limits;
  }

  /** Counts a user, who calls `release` once; a connection in use is not closed when it is replaced. */
  hold(): void {
    this.#users++;
  }

  release(): void {
    this.#users--;
    // Who calls next may be asked anew.
    if (this.#users === 0 && this.#wait !== undefined) this.#wait.asked = 0;
    if (this.#onFree !== undefined) this.#tellFree();
  }

  /** Calls the listener once, as soon as the last user has released it. */
  whenFree(listener: () => void): void {
    this.#onFree = listener;
    this.#tellFree();
  }

  #tellFree(): void {
    if (this.#users > 0) return;
    const listener = this.#onFree;
    this.#onFree = undefined;
    listener?.();
  }

  get protocolVersion(): string {
    return this.session.dialect.version;
  }

  /** What the server says it is, in reasonable length; its own words, shown and never used to decide anything. */
  get serverInfo(): Readonly<Record<string, unknown>> {
    const { info } = this.session.dialect.server;
    if (info === undefined) return { name: "unknown" };
    if (JSON.stringify(info).length <= INFO_CHARACTERS) return info;
    const { name, title, version } = info;
    const texts = Object.entries({ name, title, version }).filter(([, value]) => typeof value === "string");
    return Object.fromEntries(texts.map(([key, value]) => [key, cut(String(value), TEXT_CHARACTERS)]));
  }

  /** The top-level capabilities it advertises, in reasonable number and length. */
  get capabilities(): readonly string[] {
    const names = Object.keys(this.session.dialect.server.capabilities).slice(0, MAX_CAPABILITIES);
    return names.map((name) => cut(name, CAPABILITY_CHARACTERS));
  }

  get instructions(): string | undefined {
    return this.session.dialect.server.instructions;
  }

  advertises(kind: ListKind): boolean {
    return this.session.dialect.server.capabilities[LISTS[kind].capability] !== undefined;
  }

  listing(kind: ListKind): Listing {
    const known = this.#listings.get(kind);
    if (known !== undefined) return known;
    const listing = new Listing(this.session, kind, this.limits);
    this.#listings.set(kind, listing);
    return listing;
  }
}
