import type { Authorizer } from "../authorizer.ts";
import type { Limits } from "../limits.ts";
import type { SendPlain } from "../plain-request.ts";
import type { Redactor } from "../redactor.ts";
import { type OAuthSettings, oauthSecrets } from "../server-spec.ts";
import { authContext } from "./context.ts";
import { OAuthAuthorizer } from "./oauth-authorizer.ts";
import type { TokenStore } from "./store.ts";

export interface AuthorizerOptions {
  /** The server's name, for sentences. */
  readonly server: string;
  /** The server's address: the protected resource. */
  readonly url: string;
  /** The entry's `oauth`; absent: sign in when challenged, with a client that registers itself. */
  readonly settings?: OAuthSettings | undefined;
  /** Shared by all authorizers that are to share what is in flight. */
  readonly store: TokenStore;
  /** Opens an address in the person's browser. Absent: nobody can be asked, and a needed sign-in ends `auth_required`. */
  readonly openUrl?: ((url: string, signal: AbortSignal) => Promise<void>) | undefined;
  /** Told the host at which the person is awaited, before the wait begins. */
  readonly onWaiting?: ((authorizationHost: string) => void) | undefined;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly limits: Limits;
  readonly redactor: Redactor;
  /** Sends what goes to authorization servers, and fetches metadata documents. */
  readonly send: SendPlain;
}

/** An authorizer that can also be asked to sign in, for `rpi-mcp login`. */
export interface SignInAuthorizer extends Authorizer {
  /**
   * Signs in now, through `openUrl`, whether or not there is a sign-in already.
   * @throws AdapterError `auth_required`, `cancelled`, or the signal's reason where that is an AdapterError
   */
  signIn(signal: AbortSignal): Promise<void>;
  /**
   * Takes the address that the browser ended at, from a person whose browser runs on another machine, while `signIn` or
   * `challenge` waits. Either this or the callback itself may come first.
   * @throws AdapterError `auth_required` if it is not the answer waited for; the wait goes on.
   */
  completeFromPastedUrl(text: string): void;
}

/** Makes the authorizer of one server. It does nothing until it is asked, and holds nothing open in between. */
export function createAuthorizer(options: AuthorizerOptions): SignInAuthorizer {
  const { settings, store, openUrl, onWaiting } = options;
  const context = authContext(options);
  context.redactor.add(oauthSecrets(context.settings));
  return new OAuthAuthorizer({ context, store, configured: settings !== undefined, openUrl, onWaiting });
}
