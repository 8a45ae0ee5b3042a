import { AdapterError, isAdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { isObject, isRequest, type JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { quoteText } from "../remote-text.ts";
import { quoteBody } from "./quoting.ts";
import type { Beginning, HttpResponse } from "./response.ts";
import type { Rejection } from "./transport.ts";

/** Of a reason phrase, or of a time to wait. */
const PHRASE_CHARACTERS = 60;
const LOCATION_CHARACTERS = 2000;
/** Statuses that gateways send, or that are about the exchange itself: a JSON-RPC error in the body is not the answer to the request. */
const ABOUT_THE_EXCHANGE: ReadonlySet<number> = new Set([401, 403, 407, 408, 425, 429, 502, 503, 504]);

const rejections = new WeakMap<object, Rejection>();

/** What a refusal said, for whoever has to understand it; `undefined` if the error is no refusal. Also found through `cause`. */
export function rejectionOf(error: unknown): Rejection | undefined {
  for (let each = error, depth = 0; isAdapterError(each) && depth < 4; each = each.cause, depth++) {
    const rejection = rejections.get(each);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

export interface RefusalContext {
  readonly server: string;
  readonly url: URL;
  readonly limits: Limits;
  /** What errors call the request. */
  readonly label: string;
  /** The message that was refused; absent for a request without one. */
  readonly message?: JsonRpcMessage;
  /** The request carried a session id. */
  readonly inSession: boolean;
}

/**
 * Reads a response that is no success. Returns the body if it is a JSON-RPC error that answers this very message.
 * @throws AdapterError `http.redirect`, `session.expired`, `http.status`.
 */
export async function readRefusal(response: HttpResponse, context: RefusalContext): Promise<Buffer> {
  const { limits, inSession, message } = context;
  const { status } = response;
  const beginning = await response.beginning(limits.refusalBytes, limits.refusalMs);
  const body = beginning.bytes;
  const expired = status === 404 && inSession;
  if (status >= 400 && !expired && !ABOUT_THE_EXCHANGE.has(status) && answers(body, message)) return body;
  const error = describe(response, beginning, context);
  rejections.set(error, { status, body: body.toString("utf8") });
  throw error;
}

function describe(response: HttpResponse, body: Beginning, context: RefusalContext): AdapterError {
  const { server, url, limits, inSession, label: method } = context;
  const { status } = response;
  const location = response.headers.location;
  if (status >= 300 && status < 400 && location !== undefined)
    return new AdapterError("http.redirect", { server, method, status, location: target(location, url) });
  if (status === 404 && inSession) return new AdapterError("session.expired", { server, method, status });
  const statusText = quoteText(response.statusText, PHRASE_CHARACTERS);
  const text = quoteBody(body, limits.quotedCharacters);
  const retryAfter = response.headers["retry-after"];
  return new AdapterError("http.status", {
    server,
    method,
    status,
    ...(statusText === "" ? {} : { statusText }),
    ...(text === "" ? {} : { body: text }),
    ...(retryAfter === undefined ? {} : { retryAfter: quoteText(retryAfter, PHRASE_CHARACTERS) }),
    outcomeUnknown: mayHaveRun(status),
  });
}

/** Whether the request may have been executed: a 4xx refuses it, while a 5xx may come after the work was done. */
function mayHaveRun(status: number): boolean {
  return status === 408 || (status >= 500 && status !== 501 && status !== 505);
}

function answers(body: Buffer, message: JsonRpcMessage | undefined): boolean {
  if (message === undefined || !isRequest(message) || body.length === 0) return false;
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return false; // Not JSON: the status alone counts.
  }
  if (!isObject(value) || value["method"] !== undefined || !isObject(value["error"])) return false;
  return value["id"] === message.id || value["id"] === String(message.id);
}

/** Where a redirect leads, without credentials. */
function target(location: string, base: URL): string {
  if (!URL.canParse(location, base.href)) return quoteText(location, LOCATION_CHARACTERS);
  const url = new URL(location, base.href);
  url.username = "";
  url.password = "";
  return quoteText(url.href, LOCATION_CHARACTERS);
}
