import type { AuthContext } from "./context.ts";
import type { ProofKey, SigningKey } from "./keys.ts";
import type { ServerMetadata } from "./server-metadata.ts";
import type { StoredClient } from "./store/record.ts";

export type AuthMethod = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

/** A client with the credentials that it authenticates with at one authorization server. */
export interface OAuthClient {
  /** Absent where the grant itself says who asks. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly method: AuthMethod;
  readonly key?: SigningKey;
}

/** The two sides of a request to an authorization server: the server's metadata, and the client that asks. */
export interface Party {
  readonly context: AuthContext;
  readonly metadata: ServerMetadata;
  readonly client: OAuthClient;
  /** Tokens are to be bound to it. */
  readonly proofKey?: ProofKey | undefined;
  readonly signal: AbortSignal;
}

/** What tokens are asked for, whichever way. */
export interface TokenRequest {
  readonly context: AuthContext;
  readonly metadata: ServerMetadata;
  readonly resource: string;
  readonly scope: string | undefined;
  readonly proofKey: ProofKey | undefined;
}

export interface Tokens {
  readonly accessToken: string;
  readonly tokenType: "Bearer" | "DPoP";
  readonly refreshToken?: string;
  readonly expiresInSeconds?: number;
  readonly scope?: string;
}

/** Tokens, and the client they were issued to. */
export interface SignedIn {
  readonly client: StoredClient;
  readonly tokens: Tokens;
}

export interface PendingAuthorization {
  readonly url: URL;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly resource: string;
}

/** What an authorization server gave a client that registered itself (RFC 7591). */
export interface Registration {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly method?: string;
  readonly secretExpiresAt?: number;
}
