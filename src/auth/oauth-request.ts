import { alarm } from "../alarm.ts";
import { cut } from "../cut.ts";
import { isAdapterError, isSituation, reasonOf } from "../errors.ts";
import type { PlainAnswer } from "../plain-request.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { OFFERED } from "../protocol/versions.ts";
import { isLoopback } from "../web-address.ts";
import { type AuthContext, cancelledBy, excerpt, failed } from "./context.ts";

export interface OAuthRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface OAuthAnswer {
  readonly status: number;
  readonly headers: PlainAnswer["headers"];
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
  const { oauthRequestMs, oauthAnswerBytes } = context.limits;
  // No `AbortSignal.timeout`: its timer would outlive the exchange.
  const late = new AbortController();
  const callOff = alarm(oauthRequestMs, () => late.abort());
  const headers = { accept: "application/json", "mcp-protocol-version": OFFERED, ...request.headers };
  try {
    const answer = await context.send(
      { ...request, headers, limitBytes: oauthAnswerBytes },
      AbortSignal.any([signal, late.signal]),
    );
    const text = answer.body.toString("utf8");
    const json = parseObject(text);
    // What a token endpoint sends is never quoted: it may be a token in another form.
    const problem = problemOf(answer, request.method === "GET" ? text : "", context);
    return { status: answer.status, headers: answer.headers, json, problem };
  } catch (thrown) {
    if (signal.aborted) throw cancelledBy(signal, context.server);
    const { host } = request.url;
    if (late.signal.aborted) throw failed(context, `${host} did not answer within ${oauthRequestMs / 1000} s`);
    if (isSituation(thrown, "limit.message")) throw failed(context, `${host} sent more than ${oauthAnswerBytes} bytes`);
    const reason = isAdapterError(thrown) ? thrown.details["reason"] : undefined;
    throw failed(context, `${host} cannot be reached: ${String(reason ?? reasonOf(thrown))}`);
  } finally {
    callOff();
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

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // Said by `problem`.
  }
}

function problemOf({ status, headers }: PlainAnswer, text: string, { limits }: AuthContext): string {
  if (status >= 300 && status < 400) return `HTTP ${status}, a redirect, which is not followed`;
  if (status >= 400) return `HTTP ${status}`;
  const type = headers["content-type"];
  const start = excerpt(cut(text, 80), limits);
  return `HTTP ${status} without a JSON object${type ? ` (${excerpt(type, limits)})` : ""}${start ? `: ${start}` : ""}`;
}
