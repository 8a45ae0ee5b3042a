import { AdapterError, isAdapterError } from "../errors.ts";
import type { ChallengeFacts } from "./challenge-facts.ts";
import { type AuthContext, excerpt, failed } from "./context.ts";
import { checkedUrl, exchange } from "./oauth-request.ts";
import {
  isSameButSlash,
  isSameIssuer,
  metadataElsewhere,
  type ServerMetadata,
  serverMetadata,
  strings,
} from "./server-metadata.ts";

/** What has to be known before an authorization can be asked for. */
export interface Discovered {
  /** The resource identifier: the `resource` parameter of every request (RFC 8707). */
  readonly resource: string;
  /** `scopes_supported` of the resource. */
  readonly scopesSupported: readonly string[] | undefined;
  /** What the resource says about tokens bound to a key (RFC 9449). */
  readonly bound: "required" | "offered" | "unsaid";
  readonly authorizationServer: ServerMetadata;
}

/** Servers that are asked for the metadata of another: each may keep a call waiting, and a resource can name thousands. */
const MAX_OTHERS = 3;

interface ResourceMetadata {
  readonly resource: string;
  readonly servers: readonly string[];
  readonly scopes: readonly string[] | undefined;
  readonly bound: Discovered["bound"];
}

/**
 * Finds the authorization server of the protected resource: its metadata (RFC 9728) from where the challenge points, else from the
 * well-known places; where a server has none, by the rules of the revision before there was such metadata.
 * @param challenge what the server said; without a challenge only a server with metadata is believed to want a sign-in
 * @param known issuers there is a sign-in or a client for: preferred where the resource names several
 */
export async function discover(
  context: AuthContext,
  challenge: Pick<ChallengeFacts, "asked" | "pointer">,
  known: readonly string[],
  signal: AbortSignal,
): Promise<Discovered> {
  checkedUrl(context, context.url.href, "the server's own address");
  const notes: string[] = [];
  const metadata = await resourceMetadata(context, challenge.pointer, notes, signal);
  if (metadata === undefined && !challenge.asked) {
    throw new AdapterError("auth.unasked", { server: context.server, reason: "it names no authorization server" });
  }
  const { resource, servers, scopes, bound } = metadata ?? unnamedResource(context);
  const { issuer } = context.settings;
  const preferred = servers.find((server) => known.some((one) => isSameIssuer(one, server))) ?? servers[0];
  let authorizationServer: ServerMetadata;
  if (issuer !== undefined) authorizationServer = await configuredServer(context, issuer, servers, signal);
  else if (preferred !== undefined) authorizationServer = await serverMetadata(context, preferred, signal);
  else {
    // Revision 2025-03-26: the authorization server is at the root of the resource's host.
    const defaults = metadata === undefined && challenge.pointer === undefined;
    authorizationServer = await serverMetadata(context, context.url.origin, signal, { defaults, notes });
  }
  return { resource, scopesSupported: scopes, bound, authorizationServer };
}

/** The address without what does not identify the resource; a query may hold secrets. */
function canonicalResource(url: URL): string {
  return url.pathname === "/" ? url.origin : `${url.origin}${url.pathname}`;
}

function unnamedResource({ url }: AuthContext): ResourceMetadata {
  return { resource: canonicalResource(url), servers: [], scopes: undefined, bound: "unsaid" };
}

async function resourceMetadata(
  context: AuthContext,
  pointer: string | undefined,
  notes: string[],
  signal: AbortSignal,
): Promise<ResourceMetadata | undefined> {
  const pointed = pointer === undefined ? undefined : pointedAt(context, pointer, notes);
  const { origin, pathname } = context.url;
  const root = `${origin}/.well-known/oauth-protected-resource`;
  // The SDKs' servers are often mounted at a path with a slash at its end, and have their metadata at the one without.
  const usual = [pathname, pathname.replace(/\/$/, ""), ""].map((path) => (path === "/" ? root : `${root}${path}`));
  // Where the challenge points wrong, as some do behind a proxy, the metadata is still at its usual place.
  for (const place of new Set([...(pointed === undefined ? [] : [pointed.href]), ...usual])) {
    const url = new URL(place);
    const isElsewhere = url.origin !== origin;
    const answer = exchange(context, { url, method: "GET" }, signal);
    // Only the server itself has to be within reach.
    const { json, problem, status } = await (isElsewhere ? answer.catch((error) => unreached(error, signal)) : answer);
    const found = json !== undefined && status === 200;
    const shown = isElsewhere ? excerpt(url.origin + url.pathname, context.limits) : url.pathname;
    // Some answer every address alike, or point to the metadata of their authorization server.
    if (found && json["resource"] !== undefined) {
      const other = otherResource(context, json);
      if (other === undefined) return metadataOf(json);
      // What a stranger says of its own resources is no reason to distrust the server.
      if (!isElsewhere) throw failed(context, `the resource metadata at ${url.href} ${other}`);
      notes.push(`${shown}: it ${other}`);
    } else notes.push(`${shown}: ${found ? "it names no resource" : problem}`);
  }
  return undefined;
}

/**
 * Where the challenge says that the metadata is: with the server or elsewhere, since what counts is the resource that it names
 * (RFC 9728 section 5.1). A server behind a proxy that ends TLS often names itself with plain http; that is read as the https it
 * is reached by.
 */
function pointedAt(context: AuthContext, pointer: string, notes: string[]): URL | undefined {
  if (!URL.canParse(pointer, context.url.href)) return undefined;
  const url = new URL(pointer, context.url);
  if (url.protocol === "http:" && context.url.protocol === "https:" && url.hostname === context.url.hostname)
    url.protocol = "https:";
  if (url.origin === context.url.origin) return url;
  try {
    return checkedUrl(context, url.href, "the address in its challenge");
  } catch (error) {
    if (!isAdapterError(error)) throw error;
    notes.push(String(error.details["reason"]));
    return undefined;
  }
}

function unreached(error: unknown, signal: AbortSignal): { json?: undefined; status?: undefined; problem: string } {
  if (signal.aborted || !isAdapterError(error)) throw error;
  return { problem: String(error.details["reason"]) };
}

/**
 * RFC 9728 section 3.3: metadata of another resource must not be used. One for a whole site or path covers what is in it.
 * @returns what is wrong with it then
 */
function otherResource(context: AuthContext, { resource }: Record<string, unknown>): string | undefined {
  if (typeof resource === "string" && isWithin(context.url, resource)) return undefined;
  const named = typeof resource === "string" ? excerpt(resource, context.limits) : "none";
  return `is for another resource (${named}), not for ${canonicalResource(context.url)}`;
}

function metadataOf(json: Record<string, unknown>): ResourceMetadata {
  const algorithms = strings(json["dpop_signing_alg_values_supported"]);
  const offered = algorithms !== undefined && algorithms.length > 0 ? "offered" : "unsaid";
  return {
    resource: String(json["resource"]),
    servers: strings(json["authorization_servers"]) ?? [],
    scopes: strings(json["scopes_supported"]),
    bound: json["dpop_bound_access_tokens_required"] === true ? "required" : offered,
  };
}

function isWithin(url: URL, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, search, hash } = new URL(resource);
  if (origin !== url.origin || hash !== "" || (search !== "" && search !== url.search)) return false;
  const folder = pathname.endsWith("/") ? pathname : `${pathname}/`;
  return `${url.pathname}/`.startsWith(folder);
}

/** The issuer that the entry names decides, whatever the resource says: its metadata has to name it. */
async function configuredServer(
  context: AuthContext,
  issuer: string,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<ServerMetadata> {
  const others = servers.some((server) => isSameButSlash(server, issuer)) ? [] : servers;
  for (const server of others.slice(0, MAX_OTHERS)) {
    const metadata = await metadataElsewhere(context, server, issuer, signal).catch((error: unknown) => {
      if (signal.aborted) throw error; // Whatever else is wrong with it: the entry names another one.
    });
    if (metadata !== undefined) return metadata;
  }
  return await serverMetadata(context, issuer, signal);
}
