import { defined } from "../defined.ts";
import { clientOf, withCredentials } from "./client-choice.ts";
import { type AuthContext, authContext, type ContextOptions } from "./context.ts";
import { forgetStates, newestGrant } from "./resource-state.ts";
import { emptyRecord, type SignInRecord, type StoredGrant } from "./store/record.ts";
import type { StoreDescription, TokenStore } from "./store/token-store.ts";

export interface AccountOptions extends ContextOptions {
  readonly store: TokenStore;
}

/** The state of a stored sign-in, without tokens and secrets. */
export interface SignInState {
  /** `expired`: the access token has ended and there is nothing to renew it with. */
  readonly state: "signed_in" | "expired" | "signed_out";
  readonly issuer?: string;
  readonly clientId?: string;
  readonly scope?: string;
  /** When the access token ends, as an ISO date. */
  readonly expiresAt?: string;
  /** Whether it is renewed without a person. */
  readonly renewable?: boolean;
  /** Scopes that a server demanded and nobody has signed in for yet. */
  readonly wantedScope?: string;
  readonly store: StoreDescription;
}

/**
 * The stored sign-in to a server; contacts nobody.
 * @throws AdapterError `auth.store`
 */
export async function signInState(options: AccountOptions): Promise<SignInState> {
  const { store } = options;
  const context = authContext(options);
  const record = await store.read(context.url.href);
  const grant = newestGrant(record, context);
  const description = { ...defined({ wantedScope: record.wantedScope }), store: store.describe() };
  if (grant === undefined) return { state: "signed_out", ...description };
  const { issuer, clientId, scope, expiresAt, refreshToken } = grant;
  const renewable = refreshToken !== undefined;
  return {
    state: renewable || expiresAt === undefined || expiresAt > Date.now() ? "signed_in" : "expired",
    issuer,
    clientId,
    renewable,
    ...defined({ scope, expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString() }),
    ...description,
  };
}

/**
 * Forgets every sign-in to the server and every client registered for it, after telling the authorization servers that
 * take such a word (RFC 7009); a server that cannot be reached does not keep the tokens here.
 * @returns how many sign-ins there were, and how many of them their server confirmed to have ended
 */
export async function logout(
  options: AccountOptions,
  signal: AbortSignal,
): Promise<{ ended: number; revoked: number }> {
  const { store } = options;
  const context = authContext(options);
  const url = context.url.href;
  // Of the record as it is under the lock: another process may be renewing its tokens.
  const record = await store.update(url, async (value) => ({ value, record: emptyRecord(url) }), signal);
  forgetStates(store, context.url);
  const results = await Promise.all(record.grants.map((grant) => revokes(context, record, grant, signal)));
  return { ended: record.grants.length, revoked: results.filter(Boolean).length };
}

async function revokes(
  context: AuthContext,
  record: SignInRecord,
  grant: StoredGrant,
  signal: AbortSignal,
): Promise<boolean> {
  const { metadata } = grant;
  context.redactor.add([grant.accessToken, ...(grant.refreshToken === undefined ? [] : [grant.refreshToken])]);
  const stored = clientOf(grant, context, record);
  if (metadata.revocation_endpoint === undefined || stored === undefined) return false;
  try {
    const { revoke } = await import("./oauth.ts");
    const client = await withCredentials(context, metadata, stored);
    await revoke({ context, metadata, client, signal }, grant.refreshToken ?? grant.accessToken);
    return true;
  } catch {
    return false; // The tokens are gone from here, which is what was asked for.
  }
}
