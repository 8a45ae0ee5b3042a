import { defined } from "../defined.ts";
import { nonceOf } from "./challenge-facts.ts";
import { type AuthContext, failed } from "./context.ts";
import { exchange, type OAuthAnswer } from "./oauth-request.ts";
import type { Party } from "./party.ts";

/** How the OAuth library sends a request. */
export type Send = (
  url: string,
  init: { body: unknown; headers: Record<string, string>; method: "POST" },
) => Promise<Response>;

export type Tidy = (json: Record<string, unknown>) => Record<string, unknown>;

/** Statuses that say nothing about what was asked for. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
const SECRETS = ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"];

/** Sends what the OAuth library made, within our bounds; tokens of the answer are known to the redactor before it is read. */
export function sendWith(party: Party, read: (answer: OAuthAnswer, host: string) => Response): Send {
  return async (address, { body, headers, method }) => {
    const url = new URL(address);
    const answer = await exchange(party.context, { url, method, headers, body: String(body) }, party.signal);
    for (const name of SECRETS) {
      const secret = answer.json?.[name];
      if (typeof secret === "string") party.context.redactor.add([secret]);
    }
    return read(answer, url.host);
  };
}

/**
 * The answer in the form the OAuth library reads: JSON, with the one status it expects, or an OAuth error. Some servers
 * confuse 200 and 201, send errors with 200, or refuse in words of their own.
 * @throws AdapterError `auth.failed` for anything else
 */
export function toResponse(
  context: AuthContext,
  answer: OAuthAnswer,
  host: string,
  success: number,
  tidy: Tidy,
): Response {
  const { status, json, problem, headers } = answer;
  const successful = status >= 200 && status < 300;
  const told = typeof json?.error === "string" && json.error !== "";
  const refused = (status >= 400 && status < 500 && !PASSING.has(status)) || (successful && told);
  const nonce = nonceOf(headers);
  const respond = (body: object, code: number): Response =>
    new Response(JSON.stringify(body), {
      status: code,
      headers: { "content-type": "application/json", ...defined({ "dpop-nonce": nonce }) },
    });
  if (refused) return respond(told ? json : { ...json, error: problem }, Math.max(status, 400));
  if (json === undefined || !successful) throw failed(context, `${host} answered ${problem}`);
  return respond(tidy(json), success);
}

/** A lifetime beyond a century is none: its end is no date any more. */
const MAX_LIFETIME_S = 100 * 365 * 24 * 3600;

/**
 * Drops what is null, empty or not needed: no identity of the person is wanted, and no lifetime that is none. A type that
 * is not DPoP's is Bearer, whatever it is called (Slack: "user").
 */
export function tidyTokens(json: Record<string, unknown>): Record<string, unknown> {
  const { id_token: _, ...rest } = json;
  const kept = withoutNothing(rest);
  const seconds = Number(kept.expires_in);
  if (seconds > 0 && seconds <= MAX_LIFETIME_S) kept.expires_in = seconds;
  else delete kept.expires_in;
  if (Array.isArray(kept.scope)) kept.scope = kept.scope.join(" ");
  // GitHub and Slack part them by commas: taken for one, it would be asked for by that name the next time.
  if (typeof kept.scope === "string" && !kept.scope.includes(" ")) kept.scope = kept.scope.replaceAll(",", " ");
  kept.token_type = String(kept.token_type).toLowerCase() === "dpop" ? "DPoP" : "Bearer";
  return kept;
}

/** Without the members that hold null or an empty text. */
export function withoutNothing(json: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null && value !== ""));
}
