import type { Challenge } from "../authorizer.ts";
import { parseWwwAuthenticate } from "./www-authenticate.ts";

/** What a refusal asks for. */
export interface ChallengeFacts {
  /** False where all it offers is another scheme, such as Basic. */
  readonly oauth: boolean;
  /** It takes tokens bound to a key (RFC 9449). */
  readonly dpop: boolean;
  readonly scope: string | undefined;
  readonly pointer: string | undefined;
  /** The nonce the request should have carried. */
  readonly nonce: string | undefined;
  /** The token that was refused; undefined if unknown, `null` if there was none. */
  readonly refused: string | null | undefined;
}

export function readChallenge(challenge: Challenge): ChallengeFacts {
  const all = parseWwwAuthenticate(challenge.wwwAuthenticate);
  const ours = all.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const first = (name: string): string | undefined =>
    ours.map(({ parameters }) => parameters.get(name)).find((value) => value !== undefined);
  const dpop = ours.filter(({ scheme }) => scheme === "dpop");
  const wantsNonce = dpop.some(({ parameters }) => parameters.get("error") === "use_dpop_nonce");
  return {
    oauth: ours.length > 0 || all.length === 0,
    dpop: dpop.length > 0,
    scope: first("scope"),
    pointer: first("resource_metadata"),
    nonce: wantsNonce ? nonceOf(challenge.headers) : undefined,
    refused: refusedToken(challenge.sent),
  };
}

/** The DPoP nonce in a response's headers. */
export function nonceOf(headers: Challenge["headers"]): string | undefined {
  const value = headers["dpop-nonce"];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function refusedToken(sent: Challenge["sent"]): string | null | undefined {
  if (sent === undefined) return undefined;
  const header = Object.entries(sent).find(([name]) => name.toLowerCase() === "authorization")?.[1];
  return header?.slice(header.indexOf(" ") + 1) ?? null;
}
