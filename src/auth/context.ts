import { AdapterError, isAdapterError, isSituation } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { Facts } from "../messages.ts";
import type { SendPlain } from "../plain-request.ts";
import type { Redactor } from "../redactor.ts";
import { quoteText } from "../remote-text.ts";
import type { OAuthSettings } from "../server-spec.ts";

/** The common inputs of all steps of a sign-in. */
export interface AuthContext {
  /** The server's name in the configuration. */
  readonly server: string;
  /** The file that was named for it, which a login has to name too; absent where the usual files have it, or none. */
  readonly configPath?: string | undefined;
  /** The server's address: the protected resource. */
  readonly url: URL;
  readonly settings: OAuthSettings;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly limits: Limits;
  readonly redactor: Redactor;
  /** Sends the requests of a sign-in, which go to authorization servers and for metadata documents. */
  readonly send: SendPlain;
}

/** A context before its URL is parsed and its settings have defaults. */
export interface ContextOptions extends Omit<AuthContext, "url" | "settings"> {
  readonly url: string;
  /** The entry's `oauth`; absent: sign in when challenged, with a client that registers itself. */
  readonly settings?: OAuthSettings | undefined;
}

/** @throws TypeError where the server's address is none; those of a `ServerSpec` are. */
export function authContext(options: ContextOptions): AuthContext {
  const { server, configPath, url, settings = {}, clientInfo, limits, redactor, send } = options;
  return { server, configPath, url: new URL(url), settings, clientInfo, limits, redactor, send };
}

/** Of a reason in an error: parts of it come from servers. */
const REASON_CHARACTERS = 1000;

/** The error of a sign-in that did not succeed; known secrets in the reason are masked. */
export function failed(
  context: AuthContext,
  reason: string,
  more: Pick<Facts["auth.failed"], "hint" | "oauthError" | "asked"> = {},
): AdapterError<"auth.failed"> {
  const shown = quoteText(context.redactor.text(reason), REASON_CHARACTERS);
  return new AdapterError("auth.failed", { server: context.server, reason: shown, ...more });
}

/** The error code of the authorization server, where it was that who refused. */
export function oauthErrorOf(error: unknown): string | undefined {
  return isSituation(error, "auth.failed") ? error.details.oauthError : undefined;
}

/** What to throw after the signal was aborted: its reason where that is ours, else `cancelled`. */
export function cancelledBy(signal: AbortSignal, server: string): AdapterError {
  return isAdapterError(signal.reason) ? signal.reason : new AdapterError("cancelled", { server });
}

/** Remote text as it may be quoted within a sentence. */
export function excerpt(text: string, limits: Limits): string {
  return quoteText(text, limits.quotedCharacters);
}
