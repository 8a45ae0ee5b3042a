import { type AuthorizerOptions, OAuthAuthorizer } from "../../src/auth/oauth-authorizer.ts";
import { MemoryStore } from "../../src/auth/store/memory-store.ts";
import type { Authorizer, Challenge } from "../../src/authorizer.ts";
import { type Limits, resolveLimits } from "../../src/limits.ts";
import { Redactor } from "../../src/redactor.ts";
import { sendPlain } from "../../src/transport/send-plain.ts";

/** Where a browser ended. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Follows redirects and keeps cookies as a browser does; aborting it closes the tab. */
export async function browse(address: string, signal?: AbortSignal): Promise<Page> {
  const jar = new Map<string, string>();
  let url = address;
  for (let hop = 0; hop < 10; hop += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { connection: "close", ...(cookie === "" ? {} : { cookie }) };
    const response = await fetch(url, { redirect: "manual", headers, ...(signal && { signal }) });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get("location");
    const text = await response.text();
    if (location === null) return { url, status: response.status, text, headers: response.headers };
    url = new URL(location, url).href;
  }
  return { url, status: 0, text: "", headers: new Headers() };
}

export function authorizerFor(
  url: string,
  options: Partial<Omit<AuthorizerOptions, "limits">> & { limits?: Partial<Limits> } = {},
): OAuthAuthorizer {
  return new OAuthAuthorizer({
    server: "fake",
    url,
    store: new MemoryStore(),
    clientInfo: { name: "rpi-mcp-adapter tests", version: "0" },
    redactor: new Redactor(),
    send: sendPlain,
    ...options,
    limits: resolveLimits({ oauthRequestMs: 2000, signInMs: 5000, ...options.limits }),
  });
}

/** With a person who agrees to everything at once. */
export function withBrowser(
  url: string,
  options: Parameters<typeof authorizerFor>[1] = {},
): { authorizer: OAuthAuthorizer; opened: string[]; pages: Promise<Page>[] } {
  const opened: string[] = [];
  const pages: Promise<Page>[] = [];
  const openUrl = async (address: string): Promise<void> => {
    opened.push(address);
    const page = browse(address);
    page.catch(() => undefined); // A test that is interested awaits it.
    pages.push(page);
  };
  return { authorizer: authorizerFor(url, { openUrl, ...options }), opened, pages };
}

export interface CallResult {
  readonly status: number;
  /** How many challenges were answered. */
  readonly answered: number;
}

/** Tells of a request that was refused with what `sent` holds. */
export function refuse(authorizer: Authorizer, url: string, sent: Challenge["sent"]): Promise<void> {
  const challenge: Challenge = { method: "POST", url, status: 401, wwwAuthenticate: "Bearer", headers: {}, sent };
  return authorizer.challenge(challenge, new AbortController().signal);
}

/** One request as the HTTP transport sends it: refused ones are sent again after an authorization, three times at most. */
export async function call(
  authorizer: Authorizer,
  url: string,
  signal = new AbortController().signal,
): Promise<CallResult> {
  for (let answered = 0; ; answered += 1) {
    const sent = await authorizer.headers({ method: "POST", url }, { signal });
    const response = await fetch(url, { method: "POST", body: "{}", headers: { ...sent, connection: "close" } });
    await response.arrayBuffer();
    const headers = Object.fromEntries(response.headers.entries());
    authorizer.observe?.(headers, response.status, sent);
    const wwwAuthenticate = headers["www-authenticate"] ?? "";
    const { status } = response;
    const refused = status === 401 || (status === 403 && wwwAuthenticate.includes("insufficient_scope"));
    if (!refused || answered === 3) return { status, answered };
    const challenge: Challenge = {
      method: "POST",
      url,
      status: status as 401 | 403,
      wwwAuthenticate,
      headers,
      sent,
    };
    await authorizer.challenge(challenge, signal);
  }
}
