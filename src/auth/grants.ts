import type { ProofKey } from "./keys.ts";
import type { Tokens } from "./party.ts";
import type { ServerMetadata } from "./server-metadata.ts";
import type { SignInRecord, StoredClient, StoredGrant } from "./store.ts";

const KEPT = 5;

/** What was asked for when tokens were issued. */
export interface GrantRequest {
  readonly metadata: ServerMetadata;
  readonly client: Pick<StoredClient, "kind" | "clientId">;
  readonly resource: string;
  readonly scope: string | undefined;
  readonly proofKey: ProofKey | undefined;
}

export function newGrant(tokens: Tokens, request: GrantRequest): StoredGrant {
  const { metadata, client, resource, scope, proofKey } = request;
  const granted = tokens.scope ?? scope;
  return {
    issuer: metadata.issuer,
    metadata,
    resource,
    kind: client.kind,
    clientId: client.clientId,
    ...timed(tokens),
    ...(tokens.refreshToken === undefined ? {} : { refreshToken: tokens.refreshToken }),
    ...(granted === undefined ? {} : { scope: granted }),
    ...(scope === undefined ? {} : { requestedScope: scope }),
    ...(proofKey === undefined ? {} : { proofKey: proofKey.privateJwk }),
  };
}

/** The grant after a refresh: what the server did not replace stays (RFC 6749 section 6). */
export function renewedGrant(grant: StoredGrant, tokens: Tokens, metadata: ServerMetadata): StoredGrant {
  const { expiresAt: _, ...kept } = grant;
  return {
    ...kept,
    metadata,
    ...timed(tokens),
    ...(tokens.refreshToken === undefined ? {} : { refreshToken: tokens.refreshToken }),
    ...(tokens.scope === undefined ? {} : { scope: tokens.scope }),
  };
}

function timed(tokens: Tokens): Pick<StoredGrant, "accessToken" | "tokenType" | "obtainedAt" | "expiresAt"> {
  const { accessToken, tokenType, expiresInSeconds } = tokens;
  const obtainedAt = Date.now();
  const base = { accessToken, tokenType, obtainedAt };
  return expiresInSeconds === undefined ? base : { ...base, expiresAt: obtainedAt + expiresInSeconds * 1000 };
}

/**
 * Whether a token should be renewed before it is used: in the last tenth of its life, at most a minute before its end.
 * Only a hint, since the clock may have jumped: the server decides.
 */
export function isEnding({ expiresAt, obtainedAt }: StoredGrant): boolean {
  if (expiresAt === undefined) return false;
  return Date.now() >= expiresAt - Math.min(60_000, (expiresAt - obtainedAt) / 10);
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
