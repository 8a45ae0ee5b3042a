import type { AuthorizedRequest, Authorizer, Challenge, Wait } from "../authorizer.ts";
import { clock } from "../clock.ts";
import { defined } from "../defined.ts";
import { AdapterError, isSituation } from "../errors.ts";
import { quoteText } from "../remote-text.ts";
import { oauthSecrets } from "../server-spec.ts";
import { type Authorization, authorize, renew } from "./authorize.ts";
import { type ChallengeFacts, nonceOf, readChallenge, tokenOf } from "./challenge-facts.ts";
import { type AuthContext, authContext, type ContextOptions, failed } from "./context.ts";
import { isEnding, wasAskedFor } from "./grants.ts";
import { exchange } from "./oauth-request.ts";
import { isPersonless } from "./personless.ts";
import { newestGrant, type ResourceState, stateOf } from "./resource-state.ts";
import { abortable, SharedWork } from "./shared-work.ts";
import type { StoredGrant } from "./store/record.ts";
import type { TokenStore } from "./store/token-store.ts";

/** The pause between early renewals after one has failed; meanwhile the old token is used until the server refuses it. */
const RENEWAL_PAUSE_MS = 30_000;
/** The pause between reads of the store while there are no tokens. */
const LOOK_PAUSE_MS = 5000;
/** The name of an early renewal among the kinds of shared work. */
const RENEWAL = "renewal";
/** Of what a server says in `WWW-Authenticate`. */
const CHALLENGE_CHARACTERS = 1000;

export interface AuthorizerOptions extends ContextOptions {
  /** Shared by all authorizers that are to share what is in flight. */
  readonly store: TokenStore;
  /** Opens an address in the person's browser. Absent: nobody can be asked, and a needed sign-in ends `auth_required`. */
  readonly openUrl?: ((url: string, signal: AbortSignal) => Promise<void>) | undefined;
  /** Told the host at which the person is awaited, before the wait begins. */
  readonly onWaiting?: ((authorizationHost: string) => void) | undefined;
}

/**
 * Signs in to one protected resource, and keeps the sign-in alive. It does nothing until it is asked, and holds nothing open in
 * between.
 */
export class OAuthAuthorizer implements Authorizer {
  readonly #options: AuthorizerOptions;
  readonly #context: AuthContext;
  readonly #state: ResourceState;

  constructor(options: AuthorizerOptions) {
    this.#options = options;
    this.#context = authContext(options);
    this.#context.redactor.add(oauthSecrets(this.#context.settings));
    this.#state = stateOf(options.store, this.#context);
  }

  async headers(request: AuthorizedRequest, wait: Wait): Promise<Readonly<Record<string, string>>> {
    // Tokens go to the resource they were issued for and nowhere else.
    if (new URL(request.url).origin !== this.#context.url.origin) return {};
    const state = this.#state;
    // Another process may sign in, and not every server gives a refusal that would lead to what it got.
    if (state.grant === undefined && clock.now() - state.lookedAt >= LOOK_PAUSE_MS) await this.#load();
    if (state.grant !== undefined && isEnding(state.grant)) await this.#renewEarly(state.grant, wait);
    const { grant } = state;
    if (grant === undefined) return {};
    const authorization = `${grant.tokenType} ${grant.accessToken}`;
    const key = grant.tokenType === "DPoP" ? await state.proofKeyOf(grant) : undefined;
    if (key === undefined) return { authorization };
    const { proof } = await import("./keys.ts");
    return { authorization, dpop: await proof(key, request, grant.accessToken, state.nonce) };
  }

  async challenge(challenge: Challenge, signal: AbortSignal): Promise<void> {
    try {
      await this.#answer(challenge, readChallenge(challenge), signal);
    } catch (error) {
      throw withFacts(error, challenge);
    }
  }

  observe(headers: Challenge["headers"], status: number, sent: Challenge["sent"]): void {
    const state = this.#state;
    state.nonce = nonceOf(headers) ?? state.nonce;
    if (status === 401 || headers["www-authenticate"] !== undefined) return;
    // Answers to requests with older tokens may still come; only of the one in use does it matter.
    const token = tokenOf(sent);
    if (token !== undefined && token === state.grant?.accessToken) state.accepted = token;
  }

  /**
   * Signs in now, through `openUrl`, whether or not there is a sign-in already (`rpi-mcp login`).
   * @throws AdapterError as `challenge` does
   */
  async signIn(signal: AbortSignal): Promise<void> {
    await this.#load();
    const asked = await this.#ask(signal);
    await this.#share("sign-in", asked, 401, true, signal);
  }

  /**
   * Takes the address that the browser ended at, from a person whose browser runs on another machine, while `signIn` or
   * `challenge` waits. Either this or the callback itself may come first.
   * @throws AdapterError `auth_required` if it is not the answer of the sign-in that waits; that one goes on waiting.
   */
  completeFromPastedUrl(text: string): void {
    const { listener } = this.#state;
    if (listener === undefined) throw failed(this.#context, "no sign-in is waiting for an answer");
    if (listener.paste(text)) return;
    throw failed(this.#context, "that is not the address this sign-in ends at", {
      hint: `Paste the whole address from the browser's address bar; it begins with ${listener.redirectUri} and contains state=.`,
    });
  }

  async #answer(challenge: Challenge, asked: ChallengeFacts, signal: AbortSignal): Promise<void> {
    const { status } = challenge;
    if (asked.nonce !== undefined && this.#state.grant?.tokenType === "DPoP") {
      this.#state.nonce = asked.nonce;
      return;
    }
    // With `oauth` settings in the entry OAuth is tried whatever scheme the server names.
    if (!asked.oauth && this.#options.settings === undefined) throw this.#required(challenge);
    if (!(await this.#hasNewer(status, asked))) {
      const alone = this.#options.openUrl === undefined;
      await this.#share(`${status} ${alone} ${asked.scope ?? ""}`, asked, status, false, signal);
    }
  }

  /** Whether there are tokens which the refused request did not have: another call or process was faster. */
  async #hasNewer(status: 401 | 403, asked: ChallengeFacts): Promise<boolean> {
    const state = this.#state;
    const enough = (grant: StoredGrant | undefined): boolean =>
      grant !== undefined &&
      grant.accessToken !== asked.refused &&
      ((status === 401 && asked.scope === undefined) || wasAskedFor(grant, asked.scope));
    if (enough(state.grant)) return true;
    const stored = newestGrant(await this.#options.store.read(this.#context.url.href), this.#context);
    state.lookedAt = clock.now();
    if (stored === undefined || !enough(stored)) return false;
    state.adopt(stored, "store");
    return true;
  }

  /** Starts the authorization, or joins the one that is under way for the same thing. */
  async #share(
    key: string,
    asked: ChallengeFacts,
    status: 401 | 403,
    forced: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const state = this.#state;
    const { server } = this.#context;
    while (state.work !== undefined && (state.work.key !== key || state.work.abandoned)) {
      await abortable(state.work.ended, signal, server);
      if (!forced && (await this.#hasNewer(status, asked))) return;
    }
    const { onWaiting } = this.#options;
    if (onWaiting !== undefined) state.watchers.push(onWaiting);
    try {
      if (state.waitingAt !== undefined) onWaiting?.(state.waitingAt);
      state.work ??= this.#start(key, (inner) => authorize(this.#authorization(asked, status, forced), inner));
      await state.work.join(signal, server);
    } finally {
      if (onWaiting !== undefined) state.watchers.splice(state.watchers.indexOf(onWaiting), 1);
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<void>): SharedWork {
    const shared = new SharedWork(key, work);
    void shared.ended.then(() => {
      this.#state.work = undefined;
    });
    return shared;
  }

  #authorization(asked: ChallengeFacts, status: 401 | 403, forced: boolean): Authorization {
    const { openUrl, store } = this.#options;
    const state = this.#state;
    return {
      context: this.#context,
      store,
      state,
      asked,
      status,
      forced,
      person: openUrl && this.#person(openUrl),
    };
  }

  #person(openUrl: (url: string, signal: AbortSignal) => Promise<void>): NonNullable<Authorization["person"]> {
    const state = this.#state;
    return {
      openUrl,
      onWaiting: (host) => {
        state.waitingAt = host;
        for (const watcher of new Set(state.watchers)) watcher(host);
      },
      onListening: (listener) => {
        state.listener = listener;
        if (listener === undefined) state.waitingAt = undefined;
      },
    };
  }

  async #load(): Promise<void> {
    const state = this.#state;
    const record = await this.#options.store.read(this.#context.url.href);
    state.lookedAt = clock.now();
    // Somebody who did not wait for this may have got tokens meanwhile.
    if (state.grant === undefined) state.adopt(newestGrant(record, this.#context), "store");
  }

  /** Renews what is about to end. A failure is no reason not to try the request: the clock may be wrong. */
  async #renewEarly(grant: StoredGrant, wait: Wait): Promise<void> {
    const state = this.#state;
    if (grant.refreshToken === undefined && !isPersonless(this.#context)) return;
    if (clock.now() - state.renewalFailedAt < RENEWAL_PAUSE_MS) return;
    if (state.work !== undefined && (state.work.key !== RENEWAL || state.work.abandoned)) return;
    const scene = { context: this.#context, store: this.#options.store, state };
    state.work ??= this.#start(RENEWAL, (inner) => renew(scene, grant, inner));
    const { signal } = wait;
    try {
      await state.work.join(signal, this.#context.server);
    } catch (error) {
      if (signal.aborted) throw error;
      state.renewalFailedAt = clock.now();
    }
  }

  /** Sends a request without a token to get the server's challenge: where its metadata is, and which scope it wants. */
  async #ask(signal: AbortSignal): Promise<ChallengeFacts> {
    const { url } = this.#context;
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" });
    const answer = await exchange(this.#context, { url, method: "POST", headers, body }, signal);
    const asked = answer.status === 401;
    const wwwAuthenticate = asked ? (answer.headers["www-authenticate"] ?? "") : "";
    const challenge = { method: "POST", url: url.href, status: 401, wwwAuthenticate, headers: {}, sent: {} } as const;
    return { ...readChallenge(challenge), asked };
  }

  #required({ status, wwwAuthenticate }: Challenge): AdapterError {
    const hint = 'That is not OAuth: set its credentials in the "headers" of its entry.';
    return new AdapterError("auth.required", { server: this.#context.server, status, wwwAuthenticate, hint });
  }
}

/** The facts of the refusal, which the sign-in itself does not know. */
function withFacts(error: unknown, { status, wwwAuthenticate, body }: Challenge): unknown {
  const facts = {
    status,
    wwwAuthenticate: quoteText(wwwAuthenticate, CHALLENGE_CHARACTERS),
    ...defined({ body }),
  };
  if (isSituation(error, "auth.required")) return new AdapterError("auth.required", { ...error.details, ...facts });
  if (isSituation(error, "auth.failed")) return new AdapterError("auth.failed", { ...error.details, ...facts });
  return error;
}
