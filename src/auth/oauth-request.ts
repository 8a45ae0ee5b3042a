import { cut } from "../cut.ts";
import { isAdapterError, reasonOf } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { OFFERED } from "../protocol/versions.ts";
import { type AuthContext, cancelledBy, excerpt, failed } from "./context.ts";

export interface OAuthRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface OAuthAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body, if it is a JSON object whatever its content type. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** What was wrong with it, in words, if it is no usable answer: a redirect, a page, an empty body. */
  readonly problem: string;
}

/**
 * One exchange with an authorization server or for a metadata document: no redirect is followed, the answer is bounded
 * in size and time, no socket is kept.
 * @throws AdapterError `auth.failed` where there is no whole answer; `cancelled`.
 */
export async function exchange(context: AuthContext, request: OAuthRequest, signal: AbortSignal): Promise<OAuthAnswer> {
  const { oauthRequestMs } = context.limits;
  // No `AbortSignal.timeout`: its timer would outlive the exchange.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), oauthRequestMs);
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: {
        accept: "application/json",
        "mcp-protocol-version": OFFERED,
        ...request.headers,
        connection: "close", // Nothing of a sign-in outlives it.
      },
      redirect: "manual",
      signal: AbortSignal.any([signal, late.signal]),
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const text = await readBounded(response, context, request.url);
    const json = parseObject(text);
    // What a token endpoint sends is never quoted: it may be a token in another form.
    const problem = problemOf(response, request.method === "GET" ? text : "", context);
    return { status: response.status, headers: response.headers, json, problem };
  } catch (thrown) {
    if (signal.aborted) throw cancelledBy(signal, context.server);
    if (isAdapterError(thrown)) throw thrown;
    if (late.signal.aborted) {
      throw failed(context, `${request.url.host} did not answer within ${oauthRequestMs / 1000} s`);
    }
    const cause = (thrown as { cause?: unknown }).cause ?? thrown;
    throw failed(context, `${request.url.host} cannot be reached: ${reasonOf(cause)}`);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * An address that others named, checked before anything is sent there: https, or plain http on a loopback host for a
 * server which is itself on one. So no remote server can direct requests to what listens on this machine in plain http.
 */
export function checkedUrl(context: AuthContext, value: unknown, what: string): URL {
  if (typeof value !== "string" || !URL.canParse(value)) throw failed(context, `${what} is not a URL`);
  const url = new URL(value);
  const shown = excerpt(url.origin, context.limits);
  if (url.username !== "" || url.password !== "") throw failed(context, `${what} (${shown}) contains credentials`);
  const plain = url.protocol === "http:" && isLoopback(url) && isLoopback(context.url);
  if (url.protocol !== "https:" && !plain) {
    throw failed(context, `${what} (${shown === "null" ? url.protocol : shown}) does not use https`);
  }
  return url;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || /^(127\.[\d.]+|\[::1\])$/.test(hostname);
}

async function readBounded(response: Response, context: AuthContext, url: URL): Promise<string> {
  if (response.body === null) return "";
  const limit = context.limits.oauthAnswerBytes;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the body, which closes the socket.
    if (bytes > limit) throw failed(context, `${url.host} sent more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // Said by `problem`.
  }
}

function problemOf(response: Response, text: string, { limits }: AuthContext): string {
  const { status, headers } = response;
  if (status >= 300 && status < 400) return `HTTP ${status}, a redirect, which is not followed`;
  if (status >= 400) return `HTTP ${status}`;
  const type = headers.get("content-type");
  const start = excerpt(cut(text, 80), limits);
  return `HTTP ${status} without a JSON object${type ? ` (${excerpt(type, limits)})` : ""}${start ? `: ${start}` : ""}`;
}
