import { defined } from "../defined.ts";
import { type AuthContext, excerpt, failed } from "./context.ts";
import { checkedUrl, exchange } from "./oauth-request.ts";

/** Metadata of an authorization server (RFC 8414), as far as it is read here. The endpoints are not checked yet. */
export interface ServerMetadata {
  readonly issuer: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly registration_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly scopes_supported?: readonly string[];
  readonly grant_types_supported?: readonly string[];
  readonly code_challenge_methods_supported?: readonly string[];
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  readonly token_endpoint_auth_signing_alg_values_supported?: readonly string[];
  readonly dpop_signing_alg_values_supported?: readonly string[];
  readonly authorization_response_iss_parameter_supported?: boolean;
  readonly client_id_metadata_document_supported?: boolean;
  /** There is no metadata: the default endpoints of the first authorization specification are assumed. */
  readonly assumed?: boolean;
}

export interface Fallback {
  /** Assume the default endpoints where there is no metadata at all. */
  readonly defaults: boolean;
  /** What was tried before, for the error. */
  readonly notes: readonly string[];
}

const LISTS = [
  "scopes_supported",
  "grant_types_supported",
  "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported",
  "token_endpoint_auth_signing_alg_values_supported",
  "dpop_signing_alg_values_supported",
] as const;
const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] as const;
const FLAGS = ["authorization_response_iss_parameter_supported", "client_id_metadata_document_supported"] as const;

/**
 * Fetches the metadata of an issuer from its well-known places in the specification's order. Metadata that names another
 * issuer is not used (RFC 8414 section 3.3).
 * @throws AdapterError `auth.failed` where no place has any
 */
export async function serverMetadata(
  context: AuthContext,
  issuer: string,
  signal: AbortSignal,
  fallback?: Fallback,
): Promise<ServerMetadata> {
  const base = checkedUrl(context, issuer, "the authorization server's issuer");
  const notes: string[] = [...(fallback?.notes ?? [])];
  let foreign = false;
  let hint: string | undefined;
  for (const url of places(base)) {
    const { json, status, problem } = await exchange(context, { url, method: "GET" }, signal);
    if (json === undefined || status !== 200) notes.push(`${url.pathname}: ${problem}`);
    else if (typeof json.issuer === "string" && isSameIssuer(json.issuer, issuer)) return pick(json, json.issuer);
    else {
      foreign = true;
      const other = typeof json.issuer === "string" ? excerpt(json.issuer, context.limits) : "no issuer";
      if (URL.canParse(other)) hint = issuerHint(other);
      notes.push(`${url.pathname}: it names ${other} instead of ${issuer}`);
    }
  }
  if (fallback?.defaults === true && !foreign) return defaultEndpoints(base.origin);
  const reason = `${base.host} has no usable authorization server metadata (${notes.join("; ")})`;
  throw failed(context, reason, defined({ hint }));
}

/**
 * The metadata of a configured issuer where it lies at another server's places: some authorization servers have a place for
 * each resource. Somebody else's word sends nothing elsewhere: all its endpoints have to be the issuer's own.
 */
export async function metadataElsewhere(
  context: AuthContext,
  server: string,
  issuer: string,
  signal: AbortSignal,
): Promise<ServerMetadata | undefined> {
  const { origin } = checkedUrl(context, issuer, "the configured issuer");
  for (const url of places(checkedUrl(context, server, "the authorization server's issuer"))) {
    const { json, status } = await exchange(context, { url, method: "GET" }, signal);
    const named = json?.["issuer"];
    if (status !== 200 || json === undefined || typeof named !== "string" || !isSameIssuer(named, issuer)) continue;
    const metadata = pick(json, named);
    const endpoints = ENDPOINTS.flatMap((name) => metadata[name] ?? []);
    if (endpoints.every((endpoint) => URL.canParse(endpoint) && new URL(endpoint).origin === origin)) return metadata;
  }
  return undefined;
}

function issuerHint(named: string): string {
  if (!named.includes("{")) return `If you trust that, set "issuer" to ${named} in its oauth settings.`;
  return 'Set "issuer" in its oauth settings to that of your own tenant: as it is written there, with the tenant\'s id filled in.';
}

/** Whether two issuers differ at most by a slash at their end, which some libraries add or drop: their metadata is at the same places. */
export function isSameButSlash(a: string, b: string): boolean {
  return a.replace(/\/$/, "") === b.replace(/\/$/, "");
}

/** RFC 8414 section 3.1, then OpenID Connect Discovery: with the path inserted, and with it in front. */
function places({ origin, pathname }: URL): URL[] {
  // Not by a regular expression, which would take the square of the time for many slashes.
  let end = pathname.length;
  while (pathname[end - 1] === "/") end--;
  const path = pathname.slice(0, end);
  const forms = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`];
  if (path !== "") forms.push(`${path}/.well-known/openid-configuration`);
  return forms.map((form) => new URL(`${origin}${form}`));
}

/**
 * Character by character, but for the slash of a bare origin, whose two spellings are one URL (RFC 3986 section 6.2.3): servers made
 * with pydantic write it wherever they name one, and few authorization servers do.
 */
export function isSameIssuer(a: string, b: string): boolean {
  return a === b || withoutRoot(a) === withoutRoot(b);
}

function withoutRoot(issuer: string): string {
  return issuer.replace(/^(https?:\/\/[^/?#]+)\/$/, "$1");
}

/** Takes what has the right type; anything else counts as absent. */
function pick(json: Record<string, unknown>, issuer: string): ServerMetadata {
  const picked: { -readonly [K in keyof ServerMetadata]: ServerMetadata[K] } = { issuer };
  for (const key of ENDPOINTS) {
    const value = json[key];
    if (typeof value === "string") picked[key] = value;
  }
  for (const key of FLAGS) {
    const value = json[key];
    if (typeof value === "boolean") picked[key] = value;
  }
  for (const key of LISTS) {
    const list = strings(json[key]);
    if (list !== undefined) picked[key] = list;
  }
  return picked;
}

/** The strings in a list of a metadata document; `undefined` if it is no list. */
export function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}

/** Revision 2025-03-26: those of a server without metadata. */
function defaultEndpoints(origin: string): ServerMetadata {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
    assumed: true,
  };
}
