import { clearTimeout, setTimeout } from "node:timers";
import { clientOf, mayUse, withCredentials } from "./client-choice.ts";
import { type AuthContext, cancelledBy, oauthErrorOf } from "./context.ts";
import { renewedGrant } from "./grants.ts";
import type { Party, Tokens } from "./party.ts";
import type { ResourceState } from "./resource-state.ts";
import { OFFLINE, words } from "./scopes.ts";
import type { ServerMetadata } from "./server-metadata.ts";
import {
  type SignInRecord,
  type StoredClient,
  type StoredGrant,
  sameKey,
  withGrant,
  withoutClient,
} from "./store/record.ts";
import type { TokenStore } from "./store/token-store.ts";

/** The state that an authorization works on. */
export interface Scene {
  readonly context: AuthContext;
  readonly store: TokenStore;
  readonly state: ResourceState;
}

/** `renewed`: there are newer tokens in the state. `refused`: only a new sign-in helps. */
export type RefreshOutcome = "renewed" | "refused";

/** OAuth errors that are temporary. */
const PASSING = new Set(["temporarily_unavailable", "server_error", "slow_down"]);
/**
 * How long a refresh may go on after its callers are gone: the server may have rotated the refresh token already, and without the answer
 * the sign-in would be lost.
 */
const GRACE_MS = 2000;
/** OAuth errors after which the refresh token is useless. */
const FINAL = new Set(["invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type"]);

/**
 * Refreshes the grant under the store's lock, so that of several processes one does and the others take what it got:
 * a refresh token that is used twice ends the whole sign-in at servers that rotate them.
 */
export async function refreshGrant(
  scene: Scene,
  grant: StoredGrant,
  metadata: ServerMetadata,
  signal: AbortSignal,
): Promise<RefreshOutcome> {
  const { context, store, state } = scene;
  const change = async (record: SignInRecord): Promise<{ value: RefreshOutcome; record?: SignInRecord }> => {
    // The newest, which another process may have got with another client: renewed, the older would take its place.
    const { issuer, resource } = grant;
    const stored = record.grants.find(
      (each) => each.issuer === issuer && each.resource === resource && mayUse(each, context),
    );
    if (stored === undefined) {
      state.grant = undefined; // Logged out meanwhile.
      return { value: "refused" };
    }
    if (stored.accessToken !== grant.accessToken) {
      state.adopt(stored, "store");
      return { value: "renewed" };
    }
    const client = clientOf(stored, context, record);
    if (client === undefined || stored.refreshToken === undefined) return { value: "refused" };
    try {
      const renewed = await request(scene, stored, client, metadata, signal);
      state.adopt(renewed, "refresh");
      return { value: "renewed", record: withGrant(record, renewed) };
    } catch (error) {
      const oauthError = oauthErrorOf(error);
      if (oauthError === undefined || !FINAL.has(oauthError)) throw error;
      const { refreshToken: _, ...rest } = stored;
      state.grant = rest;
      return { value: "refused", record: afterRefusal(record, rest, client, oauthError) };
    }
  };
  return await store.update(context.url.href, change, signal);
}

/**
 * Whether the error is an authorization server's word that it does not renew the grant: many have words of their own for a
 * refresh token that has ended (GitHub: `bad_refresh_token`, Metabase: `invalid_request`).
 */
export function isRefusedRefresh(error: unknown): boolean {
  const oauthError = oauthErrorOf(error);
  return oauthError !== undefined && !PASSING.has(oauthError);
}

async function request(
  { context, state }: Scene,
  grant: StoredGrant,
  client: StoredClient,
  metadata: ServerMetadata,
  signal: AbortSignal,
): Promise<StoredGrant> {
  const oauthClient = await withCredentials(context, metadata, client);
  const proofKey = await state.proofKeyOf(grant);
  const { refresh } = await import("./oauth.ts");
  if (signal.aborted) throw cancelledBy(signal, context.server);
  const ending = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const abort = (): void => {
    grace = setTimeout(() => ending.abort(), GRACE_MS);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    const party: Party = { context, metadata, client: oauthClient, signal: ending.signal, proofKey };
    const renewed = (scope: string | undefined): Promise<Tokens> =>
      refresh(party, grant.refreshToken ?? "", { resource: grant.resource, scope });
    const scope = renewableScope(grant, context);
    const tokens = await renewed(scope).catch((error: unknown) => {
      // Some remember less than they granted, or take none here: nothing was renewed yet.
      if (scope === undefined || oauthErrorOf(error) !== "invalid_scope") throw error;
      return renewed(undefined);
    });
    return renewedGrant(grant, tokens, metadata);
  } finally {
    signal.removeEventListener("abort", abort);
    clearTimeout(grace);
  }
}

/** Microsoft Entra takes a renewal without a scope for one of another resource, or refuses it. */
function renewableScope({ scope, requestedScope }: StoredGrant, { settings }: AuthContext): string | undefined {
  const offline = words(requestedScope).filter((word) => word === OFFLINE);
  const granted = [...new Set([...words(scope), ...offline])].join(" ");
  return (settings.parameters?.["scope"] ?? granted) || undefined;
}

/** The record after a final refusal: the grant without its refresh token, and without a registered client that the server no longer knows. */
function afterRefusal(record: SignInRecord, grant: StoredGrant, client: StoredClient, error: string): SignInRecord {
  const kept = { ...record, grants: record.grants.map((each) => (sameKey(each, grant) ? grant : each)) };
  return error === "invalid_client" && client.kind === "registered" ? withoutClient(kept, client) : kept;
}
