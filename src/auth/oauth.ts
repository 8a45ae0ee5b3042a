import * as oauth from "oauth4webapi";
import { defined } from "../defined.ts";
import { isAdapterError, reasonOf } from "../errors.ts";
import { isHeaderValue } from "../protocol/header-syntax.ts";
import { excerpt, failed } from "./context.ts";
import { checkedUrl } from "./oauth-request.ts";
import type { Party, PendingAuthorization, Registration, Tokens } from "./party.ts";
import { sendWith, type Tidy, tidyTokens, toResponse, withoutNothing } from "./token-answer.ts";

export const GRANT = {
  jwtBearer: "urn:ietf:params:oauth:grant-type:jwt-bearer",
  tokenExchange: "urn:ietf:params:oauth:grant-type:token-exchange",
} as const;
const TOKEN_TYPE = {
  idToken: "urn:ietf:params:oauth:token-type:id_token",
  grant: "urn:ietf:params:oauth:token-type:id-jag",
} as const;
const CLIENT = "invalid_client";
/** Hints for OAuth errors that a change of the entry can prevent. That of `invalid_client` is given only if the entry names the client. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  [CLIENT, 'Check "clientId", "clientSecret" and "tokenEndpointAuthMethod" in its oauth settings.'],
  ["invalid_scope", 'Set "parameters" in its oauth settings to {"scope": "…"}, with what is granted there.'],
  [
    "invalid_target",
    'Set "parameters" in its oauth settings to {"resource": ""}, or to the resource that is known there.',
  ],
]);
/** Form parameters of a request to an authorization server; undefined and empty ones are left out. */
type FormFields = Readonly<Record<string, string | undefined>>;

/** An authorization request with PKCE (S256), ready to be opened in a browser. */
export async function beginAuthorization(
  party: Party,
  request: { readonly redirectUri: string; readonly resource: string; readonly scope: string | undefined },
): Promise<PendingAuthorization> {
  const { context, metadata, client } = party;
  const url = checkedUrl(context, metadata.authorization_endpoint, "its authorization endpoint");
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  context.redactor.add([verifier]);
  const parameters: FormFields = {
    scope: request.scope,
    resource: request.resource,
    // OpenID Connect Core section 11: without it a request for offline access is ignored.
    prompt: request.scope?.split(" ").includes("offline_access") === true ? "consent" : undefined,
    ...context.settings.parameters,
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: request.redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of given(parameters)) url.searchParams.set(name, value);
  return { url, state, verifier, redirectUri: request.redirectUri, resource: request.resource };
}

/** Checks the authorization response (state, `iss` by RFC 9207, error) and redeems its code. */
export async function redeem(party: Party, pending: PendingAuthorization, response: URLSearchParams): Promise<Tokens> {
  const { server, client } = sides(party);
  return await explained(party, async () => {
    party.context.redactor.add(response.getAll("code"));
    const checked = oauth.validateAuthResponse(server, client, response, pending.state);
    const { redirectUri, verifier, resource } = pending;
    return await tokenRequest(party, (options) =>
      oauth.authorizationCodeGrantRequest(server, client, authentication(party), checked, redirectUri, verifier, {
        ...options,
        additionalParameters: resourceOf(party, resource),
      }),
    );
  });
}

/** Renews tokens (RFC 6749 section 6). @throws AdapterError `auth.failed`, with the server's error code if it gave one. */
export async function refresh(
  party: Party,
  refreshToken: string,
  { resource, scope }: { readonly resource: string; readonly scope: string | undefined },
): Promise<Tokens> {
  const { server, client } = sides(party);
  const additionalParameters = { ...resourceOf(party, resource), ...(scope ? { scope } : {}) };
  return await explained(party, () =>
    tokenRequest(party, (options) =>
      oauth.refreshTokenGrantRequest(server, client, authentication(party), refreshToken, {
        ...options,
        additionalParameters,
      }),
    ),
  );
}

/** Any grant that needs no person: client credentials, or an assertion (RFC 7523). */
export async function requestTokens(party: Party, grantType: string, parameters: FormFields): Promise<Tokens> {
  const { server, client } = sides(party);
  const { scope, resource, ...others } = parameters;
  const body = new URLSearchParams(given({ scope, resource, ...party.context.settings.parameters, ...others }));
  return await explained(party, () =>
    tokenRequest(party, (options) =>
      oauth.genericTokenEndpointRequest(server, client, authentication(party), grantType, body, options),
    ),
  );
}

/** Exchanges an ID token for an identity assertion grant (RFC 8693), which is no access token. */
export async function exchangeIdToken(party: Party, idToken: string, parameters: FormFields): Promise<string> {
  const { server, client } = sides(party);
  const all = { ...parameters, requested_token_type: TOKEN_TYPE.grant, subject_token: idToken };
  const body = new URLSearchParams(given({ ...all, subject_token_type: TOKEN_TYPE.idToken }));
  return await explained(party, async () => {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      authentication(party),
      GRANT.tokenExchange,
      body,
      requestOptions(party),
    );
    const json = await oauth.processGenericTokenEndpointResponse(server, client, response);
    if (json.issued_token_type === TOKEN_TYPE.grant) return json.access_token;
    throw failed(party.context, "its identity provider issued something other than an identity assertion grant");
  });
}

/** Dynamic client registration (RFC 7591). */
export async function register(
  party: Omit<Party, "client">,
  metadata: Readonly<Record<string, unknown>>,
): Promise<Registration> {
  const asked: Party = { ...party, client: { method: "none" } };
  const { server } = sides(asked);
  checkedUrl(party.context, server.registration_endpoint, "its registration endpoint");
  return await explained(asked, async () => {
    const options = requestOptions(asked, 201, (json) => ({ client_secret_expires_at: 0, ...withoutNothing(json) }));
    const response = await oauth.dynamicClientRegistrationRequest(server, metadata as object, options as never);
    const json = await oauth.processDynamicClientRegistrationResponse(response);
    const [secret, method, end] = [json.client_secret, json.token_endpoint_auth_method, json.client_secret_expires_at];
    return {
      clientId: json.client_id,
      ...(typeof secret === "string" && secret !== "" ? { clientSecret: secret } : {}),
      ...(typeof method === "string" ? { method } : {}),
      ...(typeof end === "number" && end > 0 ? { secretExpiresAt: end * 1000 } : {}),
    };
  });
}

/** Tells the authorization server that a token is no longer wanted (RFC 7009). */
export async function revoke(party: Party, token: string): Promise<void> {
  const { server, client } = sides(party);
  checkedUrl(party.context, server.revocation_endpoint, "its revocation endpoint");
  await explained(party, async () => {
    const empty = { [oauth.customFetch]: sendWith(party, ({ status }) => new Response(null, { status })) };
    const options = { ...empty, [oauth.allowInsecureRequests]: true } as never;
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, authentication(party), token, options),
    );
  });
}

function sides({ metadata, client }: Party): { server: oauth.AuthorizationServer; client: oauth.Client } {
  const { assumed: _, ...server } = metadata;
  return { server: server as oauth.AuthorizationServer, client: { client_id: client.clientId ?? "-" } };
}

type TokenOptions = oauth.TokenEndpointRequestOptions;

/** Sends a token request; once more with the server's nonce if its proof has to carry one (RFC 9449 section 8). */
async function tokenRequest(party: Party, send: (options: TokenOptions) => Promise<Response>): Promise<Tokens> {
  const { server, client } = sides(party);
  const DPoP = party.proofKey && oauth.DPoP(client, party.proofKey as oauth.CryptoKeyPair);
  const options = { ...requestOptions(party), ...(DPoP && { DPoP }) };
  const read = async (): Promise<oauth.TokenEndpointResponse> =>
    await oauth.processGenericTokenEndpointResponse(server, client, await send(options));
  try {
    return toTokens(party, await read());
  } catch (error) {
    if (DPoP === undefined || !oauth.isDPoPNonceError(error)) throw error;
    return toTokens(party, await read());
  }
}

function toTokens({ context }: Party, json: oauth.TokenEndpointResponse): Tokens {
  if (!isHeaderValue(json.access_token)) throw failed(context, "it was issued a token that cannot be sent in a header");
  return {
    accessToken: json.access_token,
    tokenType: json.token_type === "dpop" ? "DPoP" : "Bearer",
    ...(json.refresh_token ? { refreshToken: json.refresh_token } : {}),
    ...defined({ expiresInSeconds: json.expires_in }),
    ...(json.scope ? { scope: json.scope } : {}),
  };
}

function authentication({ client, context }: Party): oauth.ClientAuth {
  const { clientId, clientSecret, method, key } = client;
  if (method === "private_key_jwt" && key !== undefined) {
    const setAlgorithm = (header: Record<string, unknown>): void => {
      header.alg = key.algorithm; // The library names Ed25519 by its new name, which older servers do not know.
    };
    const named = key.kid === undefined ? { key: key.key } : { key: key.key, kid: key.kid };
    return oauth.PrivateKeyJwt(named as oauth.PrivateKey, { [oauth.modifyAssertion]: setAlgorithm });
  }
  if (method === "none") return clientId === undefined ? () => {} : oauth.None();
  if (clientSecret === undefined || method === "private_key_jwt") {
    throw failed(context, `${method} needs a ${method === "private_key_jwt" ? '"privateKey"' : '"clientSecret"'}`);
  }
  if (method === "client_secret_post") return oauth.ClientSecretPost(clientSecret);
  // Not the library's, which also encodes characters that need no encoding; many servers do not decode at all.
  return (_server, _client, _body, headers) => {
    const credentials = `${formEncoded(clientId ?? "")}:${formEncoded(clientSecret)}`;
    context.redactor.add([Buffer.from(credentials).toString("base64")]);
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/** The resource of a token request that belongs to an earlier one. */
function resourceOf({ context }: Party, resource: string): Record<string, string> {
  return Object.fromEntries(given({ resource: context.settings.parameters?.["resource"] ?? resource }));
}

function given(parameters: FormFields): [string, string][] {
  return Object.entries(parameters).filter((entry): entry is [string, string] => Boolean(entry[1]));
}

function requestOptions(party: Party, success = 200, tidy: Tidy = tidyTokens): TokenOptions {
  checkedUrl(party.context, party.metadata.token_endpoint, "its token endpoint");
  return {
    [oauth.customFetch]: sendWith(party, (answer, host) => toResponse(party.context, answer, host, success, tidy)),
    [oauth.allowInsecureRequests]: true, // `checkedUrl` is stricter.
  } as TokenOptions;
}

/** Runs an exchange; what the library throws becomes our error, with the OAuth error code as a fact. */
async function explained<T>({ context, metadata }: Party, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isAdapterError(error)) throw error;
    const host = new URL(metadata.issuer).host;
    if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
      const description = error.error_description ? ` (${excerpt(error.error_description, context.limits)})` : "";
      const oauthError = excerpt(error.error, context.limits);
      const isOurs = error.error === CLIENT && context.settings.clientId === undefined;
      const hint = isOurs ? undefined : REMEDIES.get(error.error);
      throw failed(context, `${host} answered ${oauthError}${description}`, { oauthError, ...(hint && { hint }) });
    }
    throw failed(context, `the answer of ${host} was refused: ${excerpt(reasonOf(error), context.limits)}`);
  }
}
