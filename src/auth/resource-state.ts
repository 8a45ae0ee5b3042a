import { clock } from "../clock.ts";
import type { Redactor } from "../redactor.ts";
import type { CallbackListener } from "./callback-listener.ts";
import { mayUse } from "./client-choice.ts";
import type { AuthContext } from "./context.ts";
import type { ProofKey } from "./keys.ts";
import type { SharedWork } from "./shared-work.ts";
import type { SignInRecord, StoredGrant } from "./store/record.ts";
import type { TokenStore } from "./store/token-store.ts";

/** The in-memory sign-in state of one server URL and client, shared by all authorizers in this process that use the same store. */
export class ResourceState {
  /** The tokens in use. */
  grant: StoredGrant | undefined;
  /** When the store was looked at, on the monotonic clock. */
  lookedAt: number = Number.NEGATIVE_INFINITY;
  /** The authorization or renewal that is under way: everybody waits for the same one. */
  work: SharedWork | undefined;
  /** Where the answer of a sign-in is awaited. */
  listener: CallbackListener | undefined;
  /** The host where a person is to sign in, if one is waited for; `watchers` are told of it, one for each waiting caller. */
  waitingAt: string | undefined;
  readonly watchers: ((host: string) => void)[] = [];
  /** The resource's latest DPoP nonce. */
  nonce: string | undefined;
  /** The access token in use, once the resource has accepted it. */
  accepted: string | undefined;
  /** When a renewal failed, on the monotonic clock. */
  renewalFailedAt: number = Number.NEGATIVE_INFINITY;
  /** How the grant came about and when, on the monotonic clock. */
  origin: { readonly by: "store" | "authorization" | "refresh"; readonly at: number } = { by: "store", at: 0 };
  /** Unions of scopes that a step-up asked for, and when, on the monotonic clock. */
  readonly steppedUp: Map<string, number> = new Map();
  readonly #redactor: Redactor;
  #proofKey: { readonly of: unknown; readonly key: Promise<ProofKey> } | undefined;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  adopt(grant: StoredGrant | undefined, by: ResourceState["origin"]["by"]): void {
    const secrets = [grant?.accessToken, grant?.refreshToken, grant?.proofKey?.d];
    this.#redactor.add(secrets.filter((secret) => typeof secret === "string"));
    this.grant = grant;
    this.origin = { by, at: clock.now() };
  }

  /** The key a grant is bound to; that of the grant in use is read once. */
  async proofKeyOf(grant: StoredGrant | undefined): Promise<ProofKey | undefined> {
    const stored = grant?.proofKey;
    if (stored === undefined) return undefined;
    if (this.#proofKey?.of !== stored) {
      const { loadProofKey } = await import("./keys.ts");
      this.#proofKey = { of: stored, key: loadProofKey(stored) };
    }
    return await this.#proofKey.key;
  }
}

const states = new WeakMap<TokenStore, Map<string, ResourceState>>();

/** The one state for this store, address and client settings. */
export function stateOf(store: TokenStore, context: AuthContext): ResourceState {
  let byKey = states.get(store);
  if (byKey === undefined) {
    byKey = new Map();
    states.set(store, byKey);
  }
  const key = JSON.stringify([context.url.href, context.settings]);
  let state = byKey.get(key);
  if (state === undefined) {
    state = new ResourceState(context.redactor);
    byKey.set(key, state);
  }
  return state;
}

/** Resolves when the authorizations and renewals that are under way have ended, whichever way. */
export async function workOver(store: TokenStore): Promise<void> {
  const all = [...(states.get(store)?.values() ?? [])];
  await Promise.all(all.map(({ work }) => work?.ended));
}

/** Forgets what is in memory about an address, whatever the client settings. */
export function forgetStates(store: TokenStore, url: URL): void {
  for (const [key, state] of states.get(store) ?? []) {
    if ((JSON.parse(key) as [string])[0] === url.href) state.adopt(undefined, "store");
  }
}

/** The newest grant of the record that belongs to the client this entry configures: by its place, since the clock may have jumped. */
export function newestGrant(record: SignInRecord, context: AuthContext): StoredGrant | undefined {
  return record.grants.find((grant) => mayUse(grant, context));
}
