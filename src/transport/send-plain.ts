import { Cancellation } from "../cancellation.ts";
import { defined } from "../defined.ts";
import type { PlainAnswer, PlainRequest } from "../plain-request.ts";
import { Roster } from "../roster.ts";
import { type Exchange, exchangeTrusting } from "./exchange.ts";
import { USER_AGENT } from "./http-headers.ts";
import { type HttpRequest, Pool } from "./pool.ts";

/** A `SendPlain`: nothing of the request outlives it. */
export async function sendPlain(
  { url, method, headers, body, limitBytes }: PlainRequest,
  signal: AbortSignal,
): Promise<PlainAnswer> {
  const all = {
    host: url.host,
    "user-agent": USER_AGENT,
    ...headers,
    connection: "close",
    ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
  };
  const cancel = new Cancellation();
  const giveUp = (): void => cancel.cancel();
  const request: HttpRequest = {
    method,
    path: url.pathname + url.search,
    headers: Object.entries(all).flat(),
    ...defined({ body }),
    label: `${method} ${url.pathname}`,
    cancel,
  };
  const context = {
    server: url.host,
    url: `${url.origin}${url.pathname}`,
    inFlight: new Roster<Exchange>(),
  };
  const pool = await Pool.open(url, 0);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    return await exchangeTrusting(context, pool, request, async (response) => ({
      status: response.status,
      headers: response.headers,
      body: await response.whole(limitBytes, (lent) => Buffer.from(lent)),
    }));
  } finally {
    signal.removeEventListener("abort", giveUp);
    pool.destroy();
  }
}
