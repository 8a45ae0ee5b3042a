import { AdapterError } from "../errors.ts";
import type { HttpEndpoint, ServerSpec } from "../server-spec.ts";
import { readUrl } from "../web-address.ts";
import { secretsOf } from "./secrets.ts";
import { fingerprintOf } from "./spec.ts";

/**
 * The server behind a bare `url` target. Its name is the address without query.
 * @throws AdapterError `config.url`
 */
export function specForUrl(text: string): ServerSpec {
  const read = readUrl(text);
  if ("reason" in read) throw new AdapterError("config.url", { reason: read.reason });
  const { url } = read;
  const endpoint: HttpEndpoint = { kind: "http", transport: "auto", url: url.href, headers: {} };
  return Object.freeze({
    name: url.origin + url.pathname,
    endpoint,
    origin: "explicit",
    protocol: "auto",
    stopOnCancel: false,
    autoApprove: [],
    fingerprint: fingerprintOf(endpoint, "auto"),
    ...secretsOf({ endpoint, used: new Map(), plain: [] }),
  } satisfies ServerSpec);
}
