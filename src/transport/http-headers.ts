import { AdapterError } from "../errors.ts";
import { headerFlaw } from "../protocol/header-syntax.ts";

/** Headers that only we set: configured ones with these names are left out. */
const OWN: ReadonlySet<string> = new Set([
  "accept",
  "content-type",
  "content-length",
  "mcp-protocol-version",
  "mcp-session-id",
]);

export const USER_AGENT = "rpi-mcp-adapter";
const ACCEPT_BOTH = "application/json, text/event-stream";

/** The constant headers of a connection, as flat lists of names and values. */
export interface ConstantHeaders {
  readonly post: readonly string[];
  readonly get: readonly string[];
  readonly delete: readonly string[];
}

/**
 * Joins the protocol's own headers with the configured ones.
 * @throws AdapterError `config_error` for a configured header that cannot be sent; its value is not shown.
 */
export function constantHeaders(
  server: string,
  url: URL,
  configured: Readonly<Record<string, string>>,
): ConstantHeaders {
  const names = new Set<string>();
  const extra: string[] = [];
  for (const [name, value] of Object.entries(configured)) {
    const key = name.toLowerCase();
    if (OWN.has(key)) continue;
    const flaw = headerFlaw(name, value, names);
    if (flaw !== undefined) throw new AdapterError("header.entry", { server, header: name, reason: flaw });
    names.add(key);
    extra.push(name, value);
  }
  if (!names.has("user-agent")) extra.push("User-Agent", USER_AGENT);
  if (!names.has("accept-encoding")) extra.push("Accept-Encoding", "gzip, deflate, br");
  const host = ["Host", url.host];
  return {
    post: [...host, "Content-Type", "application/json", "Accept", ACCEPT_BOTH, ...extra],
    get: [...host, "Accept", "text/event-stream", "Cache-Control", "no-cache", ...extra],
    delete: [...host, "Accept", "*/*", ...extra],
  };
}

/** A flat list with some headers added; one that is there already is replaced. */
export function withHeaders(list: readonly string[], added: Readonly<Record<string, string>>): string[] {
  const names = new Set(Object.keys(added).map((name) => name.toLowerCase()));
  const merged: string[] = [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = list[at] as string;
    if (!names.has(name.toLowerCase())) merged.push(name, list[at + 1] as string);
  }
  for (const [name, value] of Object.entries(added)) merged.push(name, value);
  return merged;
}
