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
 * The answer in the form the OAuth library reads: JSON, with the one status it expects, or an OAuth error.
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
  const refusal = status >= 400 && status < 500 && typeof json?.error === "string";
  if (json === undefined || !(refusal || (status >= 200 && status < 300))) {
    throw failed(context, `${host} answered ${problem}`);
  }
  const nonce = nonceOf(headers);
  return new Response(JSON.stringify(refusal ? json : tidy(json)), {
    status: refusal ? status : success, // Some servers confuse 200 and 201.
    headers: { "content-type": "application/json", ...(nonce === undefined ? {} : { "dpop-nonce": nonce }) },
  });
}

/** A lifetime beyond a century is none: its end is no date any more. */
const MAX_LIFETIME_S = 100 * 365 * 24 * 3600;

/** Drops what is null or not needed: no identity of the person is wanted, and no lifetime that is none. */
export function tidyTokens(json: Record<string, unknown>): Record<string, unknown> {
  const { id_token: _, ...rest } = json;
  const kept = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  const seconds = Number(kept.expires_in);
  if (seconds > 0 && seconds <= MAX_LIFETIME_S) kept.expires_in = seconds;
  else delete kept.expires_in;
  return kept;
}
