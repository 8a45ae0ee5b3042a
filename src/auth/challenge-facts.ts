import type { Challenge } from "../authorizer.ts";
import { parseWwwAuthenticate } from "./www-authenticate.ts";

/** The parsed content of an authorization challenge. */
export interface ChallengeFacts {
  /** Whether the server asked for anything: a login may come before that. */
  readonly asked: boolean;
  /** False where all it offers is another scheme, such as Basic. */
  readonly oauth: boolean;
  /** It takes tokens bound to a key (RFC 9449). */
  readonly dpop: boolean;
  readonly scope: string | undefined;
  /** The `resource_metadata` URL (RFC 9728). */
  readonly pointer: string | undefined;
  /** The nonce the request should have carried, unless it did. */
  readonly nonce: string | undefined;
  /** The token that was refused; undefined if there was none. */
  readonly refused: string | undefined;
}

export function readChallenge(challenge: Challenge): ChallengeFacts {
  const all = parseWwwAuthenticate(challenge.wwwAuthenticate);
  const ours = all.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const first = (name: string): string | undefined =>
    ours.map(({ parameters }) => parameters.get(name)).find((value) => value !== undefined);
  const dpop = ours.filter(({ scheme }) => scheme === "dpop");
  const wantsNonce = dpop.some(({ parameters }) => parameters.get("error") === "use_dpop_nonce");
  return {
    asked: true,
    oauth: ours.length > 0 || all.length === 0,
    dpop: dpop.length > 0,
    scope: first("scope"),
    pointer: first("resource_metadata"),
    nonce: wantsNonce ? missingNonce(challenge) : undefined,
    refused: tokenOf(challenge.sent),
  };
}

function missingNonce({ headers, sent }: Challenge): string | undefined {
  const nonce = nonceOf(headers);
  const claims = headerOf(sent, "dpop")?.split(".")[1];
  // Our own proof, so it can be read.
  const carried = claims && (JSON.parse(Buffer.from(claims, "base64url").toString()) as { nonce?: unknown }).nonce;
  return nonce === carried ? undefined : nonce;
}

/** The DPoP nonce in a response's headers. */
export function nonceOf(headers: Challenge["headers"]): string | undefined {
  const value = headers["dpop-nonce"];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The token that a request carried. */
export function tokenOf(sent: Challenge["sent"]): string | undefined {
  const header = headerOf(sent, "authorization");
  return header?.slice(header.indexOf(" ") + 1);
}

function headerOf(headers: Readonly<Record<string, string>>, wanted: string): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
}
