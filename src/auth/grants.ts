import { defined } from "../defined.ts";
import type { ProofKey } from "./keys.ts";
import type { Tokens } from "./party.ts";
import { covers } from "./scopes.ts";
import type { ServerMetadata } from "./server-metadata.ts";
import type { StoredClient, StoredGrant } from "./store/record.ts";

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
  return {
    issuer: metadata.issuer,
    metadata,
    resource,
    kind: client.kind,
    clientId: client.clientId,
    ...timed(tokens),
    ...defined({
      refreshToken: tokens.refreshToken,
      scope: tokens.scope ?? scope,
      requestedScope: scope,
      proofKey: proofKey?.privateJwk,
    }),
  };
}

/** The grant after a refresh: what the server did not replace stays (RFC 6749 section 6). */
export function renewedGrant(grant: StoredGrant, tokens: Tokens, metadata: ServerMetadata): StoredGrant {
  const { expiresAt: _, ...kept } = grant;
  return {
    ...kept,
    metadata,
    ...timed(tokens),
    ...defined({ refreshToken: tokens.refreshToken, scope: tokens.scope }),
  };
}

function timed(tokens: Tokens): Pick<StoredGrant, "accessToken" | "tokenType" | "obtainedAt" | "expiresAt"> {
  const { accessToken, tokenType, expiresInSeconds } = tokens;
  const obtainedAt = Date.now();
  const base = { accessToken, tokenType, obtainedAt };
  return expiresInSeconds === undefined ? base : { ...base, expiresAt: obtainedAt + expiresInSeconds * 1000 };
}

/** Whether the scopes are in what was granted or asked for: some authorization servers grant it under other names (Google). */
export function wasAskedFor({ scope, requestedScope }: StoredGrant, asked: string | undefined): boolean {
  return covers(scope, asked) || covers(requestedScope, asked);
}

/**
 * Whether a token should be renewed before it is used: in the last tenth of its life, at most a minute before its end.
 * Only a hint, since the clock may have jumped: the server decides.
 */
export function isEnding({ expiresAt, obtainedAt }: StoredGrant): boolean {
  if (expiresAt === undefined) return false;
  return Date.now() >= expiresAt - Math.min(60_000, (expiresAt - obtainedAt) / 10);
}
