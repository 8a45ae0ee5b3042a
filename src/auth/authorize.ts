import { clock } from "../clock.ts";
import { AdapterError, isSituation } from "../errors.ts";
import { type Person, signInWithBrowser } from "./browser-sign-in.ts";
import type { ChallengeFacts } from "./challenge-facts.ts";
import { KEY_HINT } from "./client-choice.ts";
import { excerpt, failed } from "./context.ts";
import { type Discovered, discover } from "./discovery.ts";
import { newGrant, wasAskedFor } from "./grants.ts";
import type { ProofKey } from "./keys.ts";
import { loginHint } from "./login-hint.ts";
import type { SignedIn } from "./party.ts";
import { isPersonless, requestPersonless } from "./personless.ts";
import { isRefusedRefresh, refreshGrant, type Scene } from "./refresh.ts";
import { chooseScope, covers, type ScopeChoice, words } from "./scopes.ts";
import { type SignInRecord, type StoredGrant, withClient, withGrant } from "./store/record.ts";
import { amend } from "./store/token-store.ts";

/** The inputs of one authorization: the challenge to answer, and the means to do so. */
export interface Authorization extends Scene {
  readonly asked: ChallengeFacts;
  readonly status: 401 | 403;
  /** Sign in anew even if there are tokens (`rpi-mcp login`). */
  readonly forced: boolean;
  readonly person: Person | undefined;
}

/** A token that was refused this soon, and never accepted, was never good. */
const FRESH_MS = 60_000;
/** The same step-up is not asked for again within this time. */
const STEP_UP_PAUSE_MS = 60_000;

/**
 * Gets new tokens into the state: by refresh, by the entry's grant, or through the person.
 * @throws AdapterError `auth_required` where that is not possible or of no use
 */
export async function authorize(authorization: Authorization, signal: AbortSignal): Promise<void> {
  const { context, store, state, asked, status, forced, person } = authorization;
  const refreshable = status === 401 && state.grant?.refreshToken !== undefined;
  if (person === undefined && !isPersonless(context) && !refreshable) throw await personNeeded(authorization, signal);
  const record = await store.read(context.url.href);
  const known = [...record.grants, ...record.clients].map(({ issuer }) => issuer);
  const discovered = await discover(context, asked, known, signal);
  const grant = state.grant !== undefined && isFor(state.grant, discovered) ? state.grant : undefined;
  if (!forced && grant !== undefined) {
    if (status === 401 && (await refreshes(authorization, grant, discovered, signal))) return;
    refuseLoop(authorization, grant, discovered);
  }
  if (person === undefined && !isPersonless(context)) throw await personNeeded(authorization, signal);
  await signIn(authorization, discovered, record, grant, signal);
}

/** Renews a grant that is about to expire, and puts the new tokens into the state. */
export async function renew(scene: Scene, grant: StoredGrant, signal: AbortSignal): Promise<void> {
  const { context, store, state } = scene;
  const { metadata, resource, requestedScope } = grant;
  if (!isPersonless(context)) {
    await refreshGrant(scene, grant, metadata, signal);
    return;
  }
  const record = await store.read(context.url.href);
  const proofKey = await state.proofKeyOf(grant);
  const request = { context, metadata, record, resource, scope: requestedScope, proofKey };
  const { client, tokens } = await requestPersonless(request, signal);
  state.adopt(newGrant(tokens, { metadata, client, resource, scope: requestedScope, proofKey }), "authorization");
}

/** Whether the grant was issued by this authorization server for this resource. */
function isFor(grant: StoredGrant, { authorizationServer, resource }: Discovered): boolean {
  return grant.issuer === authorizationServer.issuer && grant.resource === resource;
}

/**
 * Tries a refresh; returns whether there are new tokens. It is not tried where it cannot help: it never widens the scope, and tokens that
 * were refused right after they were issued would be refused again.
 */
async function refreshes(
  authorization: Authorization,
  grant: StoredGrant,
  { authorizationServer }: Discovered,
  signal: AbortSignal,
): Promise<boolean> {
  const { asked } = authorization;
  if (grant.refreshToken === undefined || isPersonless(authorization.context)) return false;
  if (asked.scope !== undefined && !wasAskedFor(grant, asked.scope)) return false;
  if (isRefusedAgain(authorization, grant)) return false;
  try {
    return (await refreshGrant(authorization, grant, authorizationServer, signal)) === "renewed";
  } catch (error) {
    if (isRefusedRefresh(error)) return false;
    throw error;
  }
}

/** Breaks authorization loops: throws if a new token was refused at once, or if a granted scope is demanded again. */
function refuseLoop(authorization: Authorization, grant: StoredGrant, { scopesSupported }: Discovered): void {
  const { context, state, asked, status } = authorization;
  const { host } = new URL(grant.issuer);
  const needed = asked.scope ?? (status === 403 ? scopesSupported?.join(" ") : undefined);
  if (status === 401 && (needed === undefined || covers(grant.scope, needed))) {
    if (state.origin.by !== "authorization" || !isRefusedAgain(authorization, grant)) return;
    throw failed(context, `the server refuses the token that ${host} has just issued for it`);
  }
  if (needed === undefined) throw failed(context, "the server demands a scope that it does not name");
  const shown = `the scope ${excerpt(needed, context.limits)}`;
  if (covers(grant.scope, needed)) {
    throw failed(context, `the server demands ${shown}, which its token was already granted`);
  }
  const union = chooseScope(scopesOf(authorization, grant, undefined)) ?? "";
  const last = state.steppedUp.get(union);
  if (last !== undefined && clock.now() - last < STEP_UP_PAUSE_MS) {
    throw failed(context, `the server demands ${shown}, which ${host} did not grant`);
  }
  state.steppedUp.set(union, clock.now());
}

/** Whether new tokens were refused at their first use. */
function isRefusedAgain({ state: { accepted, origin } }: Authorization, grant: StoredGrant): boolean {
  return grant.accessToken !== accepted && origin.by !== "store" && clock.now() - origin.at < FRESH_MS;
}

async function signIn(
  authorization: Authorization,
  discovered: Discovered,
  record: SignInRecord,
  grant: StoredGrant | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { context, store, state, person } = authorization;
  const { resource, authorizationServer: metadata } = discovered;
  const scope = chooseScope(scopesOf(authorization, grant, discovered, record.wantedScope));
  const proofKey = await proofKeyFor(authorization, discovered);
  const request = { context, store, metadata, resource, scope, proofKey, record };
  const { client, tokens }: SignedIn =
    isPersonless(context) || person === undefined
      ? await requestPersonless(request, signal)
      : await signInWithBrowser({ ...request, person }, signal);
  const bound = tokens.tokenType === "DPoP";
  if (!bound && discovered.bound === "required") {
    throw failed(
      context,
      `${new URL(metadata.issuer).host} issued a token that is not bound to a key, which the server requires`,
      person && { asked: true },
    );
  }
  const fresh = newGrant(tokens, { metadata, client, resource, scope, proofKey: bound ? proofKey : undefined });
  state.adopt(fresh, "authorization");
  await remember(authorization, fresh, client, signal);
}

function scopesOf(
  { context, asked, person, status }: Authorization,
  grant: StoredGrant | undefined,
  discovered: Discovered | undefined,
  wanted?: string,
): ScopeChoice {
  const supported = discovered?.scopesSupported;
  return {
    challenged: asked.scope ?? (status === 403 ? supported?.join(" ") : undefined),
    configured: context.settings.scope,
    supported,
    previous: [grant?.requestedScope, grant?.scope, wanted],
    offline: person !== undefined && !isPersonless(context),
    offered: discovered?.authorizationServer.scopes_supported,
  };
}

/** A key to bind the tokens to, where the entry, the resource, or both sides together ask for it. */
async function proofKeyFor({ context, asked }: Authorization, discovered: Discovered): Promise<ProofKey | undefined> {
  const { bound, authorizationServer } = discovered;
  const accepted = authorizationServer.dpop_signing_alg_values_supported;
  const possible = accepted !== undefined && accepted.length > 0;
  const wanted = context.settings.dpop ?? (bound === "required" || (possible && (asked.dpop || bound === "offered")));
  if (!wanted) return undefined;
  const { newProofKey } = await import("./keys.ts");
  return await newProofKey(context, accepted);
}

/**
 * Stores what came of a sign-in. Tokens of a grant without a person are not stored, since the entry can get new ones: only the issuer
 * that its client belongs to is.
 */
async function remember(
  { context, store }: Authorization,
  grant: StoredGrant,
  client: SignedIn["client"],
  signal: AbortSignal,
): Promise<void> {
  const change = (record: SignInRecord): SignInRecord => {
    // Another process may have registered a client of its own meanwhile: this one is what the tokens are renewed with.
    const renewable = client.kind === "registered" ? withClient(record, client) : record;
    if (!isPersonless(context)) return withGrant(renewable, grant);
    const known = record.clients.some(
      ({ clientId, issuer }) => clientId === client.clientId && issuer === client.issuer,
    );
    return known || client.clientId === "" ? record : withClient(record, client);
  };
  try {
    await amend(store, context.url.href, change, signal);
  } catch (error) {
    // The sign-in itself succeeded and is good for this process.
    if (!isSituation(error, "auth.store")) throw error;
  }
}

/** The error where only a person could sign in, and none can be asked. The demanded scope is stored for a later `rpi-mcp login`. */
async function personNeeded(
  { context, store, state, asked, status }: Authorization,
  signal: AbortSignal,
): Promise<AdapterError> {
  if (status === 403 && asked.scope !== undefined) {
    const previous = [state.grant?.requestedScope, state.grant?.scope];
    const wantedScope = [...new Set([...previous, asked.scope].flatMap(words))].join(" ");
    await amend(store, context.url.href, (record) => ({ ...record, wantedScope }), signal);
  }
  return new AdapterError("auth.required", {
    server: context.server,
    status,
    wwwAuthenticate: "",
    hint: asked.pointer === undefined ? `${loginHint(context)} ${KEY_HINT}` : loginHint(context),
  });
}
