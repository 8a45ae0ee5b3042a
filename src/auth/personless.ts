import { knownClient, registerClient, withCredentials } from "./client-choice.ts";
import { type AuthContext, failed } from "./context.ts";
import type { OAuthClient, Party, SignedIn, TokenRequest } from "./party.ts";
import { type ServerMetadata, serverMetadata } from "./server-metadata.ts";
import type { SignInRecord, StoredClient } from "./store/record.ts";

/** The inputs of a non-interactive grant: client credentials, a JWT assertion, or enterprise-managed authorization. */
export interface PersonlessGrant extends TokenRequest {
  readonly record: SignInRecord;
}

/** Whether the entry's grant type is non-interactive: no person has to sign in. */
export function isPersonless({ settings }: AuthContext): boolean {
  return settings.grantType !== undefined && settings.grantType !== "authorization_code";
}

/** Requests tokens by the entry's non-interactive grant type. */
export async function requestPersonless(grant: PersonlessGrant, signal: AbortSignal): Promise<SignedIn> {
  const { context, metadata, resource, scope, proofKey } = grant;
  const client = await clientOfGrant(grant, signal);
  const oauthClient: OAuthClient =
    client.clientId === "" ? { method: "none" } : await withCredentials(context, metadata, client);
  const party: Party = { context, metadata, client: oauthClient, signal, proofKey };
  const { GRANT, requestTokens } = await import("./oauth.ts");
  if (context.settings.grantType === "client_credentials") {
    return { client, tokens: await requestTokens(party, "client_credentials", { resource, scope }) };
  }
  const assertion = await assertionFor(grant, signal);
  return { client, tokens: await requestTokens(party, GRANT.jwtBearer, { assertion, resource, scope }) };
}

async function clientOfGrant(grant: PersonlessGrant, signal: AbortSignal): Promise<StoredClient> {
  const { context, metadata, record, scope } = grant;
  const known = knownClient(context, metadata, record, scope);
  if (known !== undefined) return known;
  const { grantType } = context.settings;
  if (grantType === "client_credentials") {
    throw failed(context, 'the grant type client_credentials needs a "clientId" in its oauth settings');
  }
  // RFC 7523 section 3.1: the assertion itself may say who asks.
  if (grantType === "jwt_bearer") return { issuer: metadata.issuer, kind: "preregistered", clientId: "" };
  const { GRANT } = await import("./oauth.ts");
  return await registerClient({ context, metadata, signal }, [GRANT.jwtBearer], undefined, scope);
}

async function assertionFor(grant: PersonlessGrant, signal: AbortSignal): Promise<string> {
  const { context } = grant;
  if (context.settings.grantType === "enterprise") return await enterpriseAssertion(grant, signal);
  const { assertion } = context.settings;
  if (assertion === undefined)
    throw failed(context, 'the grant type jwt_bearer needs an "assertion" in its oauth settings');
  return assertion;
}

/** Enterprise-managed authorization: the identity provider turns the person's ID token into a grant for the server. */
async function enterpriseAssertion(grant: PersonlessGrant, signal: AbortSignal): Promise<string> {
  const { context, metadata, resource, scope } = grant;
  const provider = context.settings.identityProvider ?? {};
  const { idToken, clientId, clientSecret } = provider;
  if (idToken === undefined || clientId === undefined) {
    throw failed(context, 'the grant type enterprise needs "idToken" and "clientId" of the "identityProvider"');
  }
  const identity = await identityProvider(context, signal);
  const supported = identity.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const withSecret = supported.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post";
  const client: OAuthClient =
    clientSecret === undefined ? { clientId, method: "none" } : { clientId, clientSecret, method: withSecret };
  const { exchangeIdToken } = await import("./oauth.ts");
  const parameters = { audience: metadata.issuer, resource, scope };
  return await exchangeIdToken({ context, metadata: identity, client, signal }, idToken, parameters);
}

async function identityProvider(context: AuthContext, signal: AbortSignal): Promise<ServerMetadata> {
  const { issuer, tokenEndpoint } = context.settings.identityProvider ?? {};
  if (tokenEndpoint !== undefined) return { issuer: tokenEndpoint, token_endpoint: tokenEndpoint };
  if (issuer !== undefined) return await serverMetadata(context, issuer, signal);
  throw failed(context, 'the "identityProvider" needs an "issuer" or a "tokenEndpoint"');
}
