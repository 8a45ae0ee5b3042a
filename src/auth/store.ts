import { cancelledBy } from "./context.ts";
import type { ServerMetadata } from "./server-metadata.ts";

/** How a client came to its identifier. */
export type ClientKind = "preregistered" | "metadata" | "registered";

/** A client at one authorization server; its credentials are shown to no other. */
export interface StoredClient {
  readonly issuer: string;
  readonly kind: ClientKind;
  readonly clientId: string;
  /** Only of registered clients: what the entry configures stays in the entry. */
  readonly clientSecret?: string;
  readonly authMethod?: string;
  readonly redirectUri?: string;
  /** Milliseconds since the epoch at which the secret ends. */
  readonly secretExpiresAt?: number;
  /** A sign-in with it came to nothing: only kept for the tokens that were issued to it. */
  readonly doubtful?: boolean;
}

/** Tokens for one resource, from one authorization server, issued to one client. */
export interface StoredGrant {
  readonly issuer: string;
  /** Of the issuer, as it was when the tokens were issued: renewing needs no discovery. */
  readonly metadata: ServerMetadata;
  readonly resource: string;
  readonly kind: ClientKind;
  readonly clientId: string;
  readonly accessToken: string;
  readonly tokenType: "Bearer" | "DPoP";
  readonly refreshToken?: string;
  /** Milliseconds since the epoch; absent where the server did not say. */
  readonly expiresAt?: number;
  readonly obtainedAt: number;
  /** What was granted, or asked for where the server did not say. */
  readonly scope?: string;
  readonly requestedScope?: string;
  /** The private key a DPoP-bound token belongs to, as a JWK. */
  readonly proofKey?: Readonly<Record<string, unknown>>;
}

/** Everything that is remembered about the sign-ins to one server address. */
export interface SignInRecord {
  readonly url: string;
  readonly clients: readonly StoredClient[];
  readonly grants: readonly StoredGrant[];
  /** Scopes that a step-up needs and nobody has signed in for yet. */
  readonly wantedScope?: string;
}

/** Where sign-ins are kept. One instance is shared by all authorizers of a plugin: they share what is in flight by it. */
export interface TokenStore {
  /** @throws AdapterError `auth.store`: unreadable, corrupt or not ours. */
  read(url: string): Promise<SignInRecord>;
  /**
   * Changes one record while no other process does. A returned `record` replaces the old one.
   * @throws AdapterError `auth.store`, `cancelled`, and what `change` throws.
   */
  update<T>(url: string, change: Change<T>, signal: AbortSignal): Promise<T>;
  describe(): StoreDescription;
}

export type Change<T> = (record: SignInRecord) => Promise<{ readonly value: T; readonly record?: SignInRecord }>;

/**
 * Changes one record as `update` does, where nothing else is wanted of it; the same record back means no change.
 * @throws AdapterError `auth.store`, `cancelled`.
 */
export async function amend(
  store: TokenStore,
  url: string,
  change: (record: SignInRecord) => SignInRecord,
  signal: AbortSignal,
): Promise<void> {
  const amended = async (record: SignInRecord): ReturnType<Change<undefined>> => {
    const changed = change(record);
    return { value: undefined, ...(changed === record ? {} : { record: changed }) };
  };
  await store.update(url, amended, signal);
}

export interface StoreDescription {
  readonly kind: "disk" | "memory";
  readonly folder?: string;
  /** Why sign-ins are kept in memory only, if they should be on disk. */
  readonly problem?: string;
}

/** The record of an address nothing is known about. */
export function emptyRecord(url: string): SignInRecord {
  return { url, clients: [], grants: [] };
}

export function isEmpty(record: SignInRecord): boolean {
  return record.clients.length === 0 && record.grants.length === 0 && record.wantedScope === undefined;
}

/** A store that ends with the process. */
export class MemoryStore implements TokenStore {
  readonly #records = new Map<string, SignInRecord>();
  readonly #queues = new Map<string, Promise<unknown>>();

  async read(url: string): Promise<SignInRecord> {
    return this.#records.get(url) ?? emptyRecord(url);
  }

  async update<T>(url: string, change: Change<T>, signal: AbortSignal): Promise<T> {
    const before = this.#queues.get(url) ?? Promise.resolve();
    const turn = before.then(async () => {
      if (signal.aborted) throw cancelledBy(signal, url);
      const { value, record } = await change(await this.read(url));
      if (record !== undefined) this.put(record);
      return value;
    });
    const settled = turn.catch(() => undefined); // The next in the queue does not inherit a failure.
    this.#queues.set(url, settled);
    return await turn;
  }

  has(url: string): boolean {
    return this.#records.has(url);
  }

  put(record: SignInRecord): void {
    if (isEmpty(record)) this.#records.delete(record.url);
    else this.#records.set(record.url, record);
  }

  describe(): StoreDescription {
    return { kind: "memory" };
  }
}
