import { clearTimeout, setTimeout } from "node:timers";
import { AdapterError, isSituation, reasonOf } from "../errors.ts";
import { isLoopback } from "../web-address.ts";
import { type Callback, CallbackListener } from "./callback-listener.ts";
import { knownClient, registerClient, withCredentials } from "./client-choice.ts";
import { type AuthContext, cancelledBy, excerpt, failed } from "./context.ts";
import { loginHint } from "./login-hint.ts";
import { checkedUrl } from "./oauth-request.ts";
import type { Party, PendingAuthorization, SignedIn, TokenRequest } from "./party.ts";
import type { ServerMetadata } from "./server-metadata.ts";
import { abortable } from "./shared-work.ts";
import { type StoredClient, withClient, withDoubtIn } from "./store/record.ts";
import { amend, type TokenStore } from "./store/token-store.ts";

/** How to reach the person. */
export interface Person {
  /** Resolves when the address was handed over; what becomes of it shows at the callback. */
  openUrl(url: string, signal: AbortSignal): Promise<void>;
  /** Told the host at which the person is awaited, before the wait begins. */
  onWaiting(authorizationHost: string): void;
  /** Told who listens for the answer, and when nobody does any more. */
  onListening(listener: CallbackListener | undefined): void;
}

export interface BrowserSignIn extends TokenRequest {
  readonly store: TokenStore;
  readonly person: Person;
}

/**
 * The authorization code grant with PKCE through the person's browser and a loopback callback.
 * The listener is closed and the page answered whatever happens.
 */
export async function signInWithBrowser(flow: BrowserSignIn, signal: AbortSignal): Promise<SignedIn> {
  const { context, metadata, person, store } = flow;
  requirePkce(context, metadata);
  checkedUrl(context, metadata.token_endpoint, "its token endpoint");
  const record = await store.read(context.url.href);
  const known = knownClient(context, metadata, record, flow.scope);
  const listener = await listen(context, known);
  const ending = new AbortController();
  let callback: Callback | undefined;
  let asked = false;
  try {
    person.onListening(listener);
    const client = await clientFor(flow, known, listener.redirectUri, signal);
    try {
      const party = { ...partyOf(flow, signal), client: await withCredentials(context, metadata, client) };
      const { beginAuthorization, redeem } = await import("./oauth.ts");
      const { redirectUri } = listener;
      const pending = await beginAuthorization(party, { redirectUri, resource: flow.resource, scope: flow.scope });
      asked = true;
      callback = await waitForPerson(flow, listener, pending, ending, signal);
      const tokens = await redeem(party, pending, callback.parameters);
      callback.finish("done");
      return { client, tokens };
    } catch (error) {
      if (client === known && isSuspect(error)) await forget(flow, client, signal);
      throw error;
    }
  } catch (error) {
    callback?.finish("failed");
    ending.abort();
    throw asked && isSituation(error, "auth.failed")
      ? new AdapterError("auth.failed", { ...error.details, asked })
      : error;
  } finally {
    person.onListening(undefined);
    await listener.close();
  }
}

/** Where metadata says nothing of it (Entra, Cognito) an issuer that the entry itself names is taken to support it. */
function requirePkce(
  context: AuthContext,
  { issuer, code_challenge_methods_supported: methods }: ServerMetadata,
): void {
  if (methods?.includes("S256") ?? context.settings.issuer !== undefined) return;
  const reason = `${new URL(issuer).host} does not say that it supports PKCE with S256, without which a sign-in is not safe`;
  const hint = `If you know that it does, as Microsoft Entra and Amazon Cognito do, set "issuer" to ${excerpt(issuer, context.limits)} in its oauth settings.`;
  throw failed(context, reason, methods === undefined ? { hint } : {});
}

/** Listens on the port that the client is registered with; if it is taken, on any other, for which the client is registered anew. */
async function listen(context: AuthContext, known: StoredClient | undefined): Promise<CallbackListener> {
  const address = callbackAddress(context);
  const configured = new URL(address).port;
  const registered = known?.redirectUri === undefined ? 0 : Number(new URL(known.redirectUri).port);
  try {
    return await CallbackListener.open(address, registered);
  } catch (error) {
    if (configured === "" && registered !== 0) return await CallbackListener.open(address, 0);
    const reason = `cannot listen for the callback on ${configured === "" ? "any port" : `port ${configured}`}: ${reasonOf(error)}`;
    throw failed(context, reason, configured === "" ? {} : { hint: PORT_HINT });
  }
}

const PORT_HINT = 'Close the program that uses the port, or set another "redirectUri" in its oauth settings.';

/** The `redirectUri` of the entry, which must be a loopback address, or the default. */
function callbackAddress(context: AuthContext): string {
  const { redirectUri = "http://127.0.0.1/callback" } = context.settings;
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url?.protocol === "http:" && isLoopback(url) && url.href === `http://${url.host}${url.pathname}`)
    return redirectUri;
  throw failed(
    context,
    'the configured "redirectUri" is not an address of this machine such as http://localhost:3118/callback',
  );
}

async function clientFor(
  flow: BrowserSignIn,
  known: StoredClient | undefined,
  redirectUri: string,
  signal: AbortSignal,
): Promise<StoredClient> {
  const usable = known !== undefined && (known.redirectUri === undefined || known.redirectUri === redirectUri);
  const client = usable
    ? known
    : await registerClient(partyOf(flow, signal), ["authorization_code", "refresh_token"], redirectUri, flow.scope);
  if (client !== known || client.kind === "preregistered") {
    await amend(flow.store, flow.context.url.href, (record) => withClient(record, client), signal);
  }
  return client;
}

function partyOf({ context, metadata, proofKey }: BrowserSignIn, signal: AbortSignal): Omit<Party, "client"> {
  return { context, metadata, signal, proofKey };
}

async function waitForPerson(
  { context, person }: BrowserSignIn,
  listener: CallbackListener,
  { url, state }: PendingAuthorization,
  ending: AbortController,
  signal: AbortSignal,
): Promise<Callback> {
  const { signInMs } = context.limits;
  // Nobody sees a page of a call that was given up while this was prepared.
  if (signal.aborted) throw cancelledBy(signal, context.server);
  const answer = listener.expect(state);
  person.onWaiting(url.host);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = signInMs / 1000;
    timer = setTimeout(
      () => reject(failed(context, `nobody finished it at ${url.host} within ${seconds} s`)),
      signInMs,
    );
  });
  try {
    const opening = open(context, person, url, ending.signal);
    return await abortable(Promise.race([answer, late, opening]), signal, context.server);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects if the address could not be handed over; otherwise it never settles. */
async function open(context: AuthContext, person: Person, url: URL, signal: AbortSignal): Promise<never> {
  try {
    await person.openUrl(url.href, signal);
  } catch (error) {
    const reason = excerpt(reasonOf(error), context.limits);
    throw failed(context, `the browser could not be opened: ${reason}`, { hint: loginHint(context) });
  }
  return await new Promise<never>(() => {});
}

/** Whether a failure may mean that the server no longer knows the client: any but a cancellation and the person's own refusal. */
function isSuspect(error: unknown): boolean {
  return isSituation(error, "auth.failed") && error.details.oauthError !== "access_denied";
}

async function forget({ context, store }: BrowserSignIn, client: StoredClient, signal: AbortSignal): Promise<void> {
  if (client.kind !== "registered") return;
  const amended = amend(store, context.url.href, (record) => withDoubtIn(record, client), signal);
  await amended.catch(() => undefined); // The failure of the sign-in matters more.
}
