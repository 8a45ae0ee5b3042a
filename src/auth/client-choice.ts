import { defined } from "../defined.ts";
import { isSituation } from "../errors.ts";
import { type AuthContext, failed, oauthErrorOf } from "./context.ts";
import type { AuthMethod, OAuthClient, Party, Registration } from "./party.ts";
import { covers } from "./scopes.ts";
import { isSameIssuer, type ServerMetadata } from "./server-metadata.ts";
import type { SignInRecord, StoredClient, StoredGrant } from "./store/record.ts";

/** For a server that does not say where to sign in: it may want something else. */
export const KEY_HINT = 'If it wants a key or a password, set that in the "headers" of its entry.';

const CLIENT_HINT = 'Register an application there and set "clientId" in the oauth settings of its entry.';
const METHODS: readonly AuthMethod[] = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];
/**
 * The methods to register for, the best first. A native client cannot keep a secret, so it takes one only where the server
 * insists, and then shows it in the form: servers made with the Python SDK look for the client's name only there, even for
 * clients that show their secret in a header.
 */
const ASKED_FOR: readonly AuthMethod[] = ["none", "client_secret_post", "client_secret_basic"];

/**
 * The client the entry or the store already has for this authorization server, in the specification's order:
 * preregistered, then a client id metadata document where the server takes one, then one registered before for this scope.
 */
export function knownClient(
  context: AuthContext,
  metadata: ServerMetadata,
  record: SignInRecord,
  scope: string | undefined,
): StoredClient | undefined {
  const { clientId, clientMetadataUrl } = context.settings;
  const { issuer } = metadata;
  const asked = askedFor(context, scope);
  if (clientId !== undefined) {
    refuseMoved(context, record, clientId, issuer);
    return { issuer, kind: "preregistered", clientId };
  }
  if (clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true) {
    const url = URL.canParse(clientMetadataUrl) ? new URL(clientMetadataUrl) : undefined;
    if (url?.protocol !== "https:" || url.pathname === "/") {
      throw failed(context, 'the configured "clientMetadataUrl" is not an https address with a path');
    }
    return { issuer, kind: "metadata", clientId: clientMetadataUrl };
  }
  return record.clients.find(
    (client) =>
      client.kind === "registered" &&
      client.issuer === issuer &&
      client.doubtful !== true &&
      covers(client.scope ?? "", asked) &&
      (client.secretExpiresAt === undefined || client.secretExpiresAt > Date.now()),
  );
}

/**
 * Registers a native client with one loopback address.
 * @param redirectUri absent for grants without a person
 */
export async function registerClient(
  party: Omit<Party, "client">,
  grantTypes: readonly string[],
  redirectUri: string | undefined,
  scope: string | undefined,
): Promise<StoredClient> {
  const { context, metadata } = party;
  if (metadata.registration_endpoint === undefined) {
    throw failed(context, `${new URL(metadata.issuer).host} does not let clients register themselves`, {
      hint: CLIENT_HINT,
    });
  }
  const supported = metadata.grant_types_supported;
  const method = methodToAskFor(context, metadata);
  const asked = askedFor(context, scope);
  const registering = registerFor(asked, party, {
    client_name: context.clientInfo.name,
    application_type: "native",
    // What would not be understood may make the server refuse the whole registration.
    grant_types: grantTypes.filter((type) => type !== "refresh_token" || (supported?.includes(type) ?? true)),
    response_types: redirectUri === undefined ? [] : ["code"],
    redirect_uris: redirectUri === undefined ? [] : [redirectUri],
    token_endpoint_auth_method: method,
  });
  const registration = await registering.catch((error: unknown) => {
    throw metadata.assumed === true ? noneThere(context, error) : refused(context, error);
  });
  const { clientId, clientSecret, secretExpiresAt } = registration;
  // A secret that was not asked for, from a server that does not say how to show it, is shown as a configured one would be.
  const isUnasked = clientSecret !== undefined && metadata.token_endpoint_auth_methods_supported === undefined;
  const authMethod = registration.method ?? (isUnasked ? undefined : method);
  return {
    issuer: metadata.issuer,
    kind: "registered",
    clientId,
    ...defined({ authMethod, clientSecret, redirectUri, scope: asked, secretExpiresAt }),
  };
}

/** The scope that is actually requested: `parameters.scope` of the entry overrides any other. */
function askedFor({ settings }: AuthContext, scope: string | undefined): string | undefined {
  return (settings.parameters?.["scope"] ?? scope) || undefined;
}

/**
 * Registers with the scope, and again without it if that is refused: some servers limit a client to the scopes it registered for, others
 * (Keycloak) refuse a registration that names any.
 */
async function registerFor(
  scope: string | undefined,
  party: Omit<Party, "client">,
  asked: Readonly<Record<string, unknown>>,
): Promise<Registration> {
  const { register } = await import("./oauth.ts");
  if (scope === undefined) return await register(party, asked);
  return await register(party, { ...asked, scope }).catch(async (error: unknown) => {
    if (oauthErrorOf(error) === undefined) throw error;
    return await register(party, asked);
  });
}

/** The error of a refused registration, with what to do: some servers offer registration but accept only known clients. */
function refused(context: AuthContext, error: unknown): unknown {
  if (!isSituation(error, "auth.failed") || error.details.oauthError === undefined) return error;
  const { reason, oauthError } = error.details;
  return failed(context, `it does not register this client: ${reason}`, { hint: CLIENT_HINT, oauthError });
}

/** The error where the authorization server was only assumed to be on the resource's host, and registration shows that there is none. */
function noneThere(context: AuthContext, error: unknown): unknown {
  if (!isSituation(error, "auth.failed")) return error;
  const reason = `it names no authorization server, and its own host is not one (${error.details["reason"]})`;
  return failed(context, reason, { hint: KEY_HINT });
}

/** The client with the credentials it shows to its own authorization server. */
export async function withCredentials(
  context: AuthContext,
  metadata: ServerMetadata,
  client: StoredClient,
): Promise<OAuthClient> {
  const { settings } = context;
  const own = client.kind !== "registered";
  const clientSecret = client.kind === "preregistered" ? settings.clientSecret : client.clientSecret;
  const hasKey = own && settings.privateKey !== undefined;
  const method = authMethod(context, metadata, client, clientSecret !== undefined, hasKey);
  const base = { clientId: client.clientId, method, ...defined({ clientSecret }) };
  if (method !== "private_key_jwt" || settings.privateKey === undefined) return base;
  const { signingKey } = await import("./keys.ts");
  const accepted = metadata.token_endpoint_auth_signing_alg_values_supported;
  return { ...base, key: await signingKey(context, settings.privateKey, settings.signingAlgorithm, accepted) };
}

/** The client a grant was issued to, if the entry or the store still has it. */
export function clientOf(grant: StoredGrant, context: AuthContext, record: SignInRecord): StoredClient | undefined {
  const { issuer, kind, clientId } = grant;
  if (kind !== "registered") return mayUse(grant, context) ? { issuer, kind, clientId } : undefined;
  return record.clients.find((client) => client.issuer === issuer && client.clientId === clientId);
}

/** Whether the grant belongs to the client this entry configures. */
export function mayUse({ kind, clientId, issuer }: StoredGrant, { settings }: AuthContext): boolean {
  if (settings.issuer !== undefined && !isSameIssuer(settings.issuer, issuer)) return false;
  if (settings.clientId !== undefined) return kind === "preregistered" && clientId === settings.clientId;
  return kind === "registered" || (kind === "metadata" && clientId === settings.clientMetadataUrl);
}

/**
 * Credentials belong to the authorization server they were made for. Without a configured issuer that is the first one
 * they were used with: another that the resource names later does not get them.
 */
function refuseMoved(context: AuthContext, record: SignInRecord, clientId: string, issuer: string): void {
  if (context.settings.issuer !== undefined) return;
  const bound = record.clients.find((client) => client.kind === "preregistered" && client.clientId === clientId);
  if (bound === undefined || bound.issuer === issuer) return;
  throw failed(
    context,
    `it now names the authorization server ${issuer}; the configured client belongs to ${bound.issuer}`,
    {
      hint: 'If that is right, set "issuer" in its oauth settings, or log out of the server and sign in again.',
    },
  );
}

function methodToAskFor(context: AuthContext, metadata: ServerMetadata): string {
  const { tokenEndpointAuthMethod } = context.settings;
  const supported = metadata.token_endpoint_auth_methods_supported;
  if (tokenEndpointAuthMethod !== undefined || supported === undefined) return tokenEndpointAuthMethod ?? "none";
  return ASKED_FOR.find((method) => supported.includes(method)) ?? "none";
}

function authMethod(
  context: AuthContext,
  metadata: ServerMetadata,
  client: StoredClient,
  hasSecret: boolean,
  hasKey: boolean,
): AuthMethod {
  const wanted = context.settings.tokenEndpointAuthMethod ?? client.authMethod;
  if (wanted !== undefined) {
    const method = METHODS.find((each) => each === wanted);
    if (method === undefined) throw failed(context, `the token endpoint authentication ${wanted} is not supported`);
    return method.startsWith("client_secret") && !hasSecret && client.kind === "registered" ? "none" : method;
  }
  if (hasKey) return "private_key_jwt";
  if (!hasSecret) return "none";
  // RFC 8414: where it is not said, the default is basic.
  const supported = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return (
    METHODS.find((method) => method.startsWith("client_secret") && supported.includes(method)) ?? "client_secret_basic"
  );
}
