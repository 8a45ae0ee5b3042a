import type { ServerMetadata } from "../server-metadata.ts";

/** Of grants, and of clients. */
const KEPT = 5;

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
  /** What it was registered for: some authorization servers let it ask for nothing else. */
  readonly scope?: string;
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
  /** The newest first. */
  readonly grants: readonly StoredGrant[];
  /** Scopes that a step-up needs and nobody has signed in for yet. */
  readonly wantedScope?: string;
}

/** The record of an address nothing is known about. */
export function emptyRecord(url: string): SignInRecord {
  return { url, clients: [], grants: [] };
}

export function isEmpty(record: SignInRecord): boolean {
  return record.clients.length === 0 && record.grants.length === 0 && record.wantedScope === undefined;
}

/** The record with the grant in it, in place of an older one with the same key; long unused ones are dropped. */
export function withGrant(record: SignInRecord, grant: StoredGrant): SignInRecord {
  const { wantedScope: _, ...rest } = record;
  const others = record.grants.filter((other) => !sameKey(other, grant));
  return { ...rest, grants: [grant, ...others].slice(0, KEPT) };
}

/** Of an issuer only the newest registration is of use, besides those that tokens are renewed with. */
export function withClient(record: SignInRecord, client: StoredClient): SignInRecord {
  const isOld = (other: StoredClient): boolean => other.kind === "registered" && other.issuer === client.issuer;
  const others = record.clients
    .filter((other) => !isClient(other, client))
    .filter((other) => client.kind !== "registered" || !isOld(other) || isNeeded(record, other));
  return { ...record, clients: [client, ...others].slice(0, KEPT) };
}

export function withoutClient(record: SignInRecord, client: StoredClient): SignInRecord {
  return { ...record, clients: record.clients.filter((other) => !isClient(other, client)) };
}

/** The record without the client as far as sign-ins go: it stays for the tokens that are renewed with it. */
export function withDoubtIn(record: SignInRecord, client: StoredClient): SignInRecord {
  if (!isNeeded(record, client)) return withoutClient(record, client);
  const clients = record.clients.map((each) => (isClient(each, client) ? { ...each, doubtful: true } : each));
  return { ...record, clients };
}

function isNeeded({ grants }: SignInRecord, client: StoredClient): boolean {
  return grants.some((grant) => grant.refreshToken !== undefined && isClient(grant, client));
}

type ClientName = Pick<StoredClient, "issuer" | "kind" | "clientId">;

function isClient(a: ClientName, b: ClientName): boolean {
  return a.issuer === b.issuer && a.kind === b.kind && a.clientId === b.clientId;
}

/** Grants are kept by authorization server, resource and client. */
export function sameKey(a: StoredGrant, b: StoredGrant): boolean {
  return a.resource === b.resource && isClient(a, b);
}
