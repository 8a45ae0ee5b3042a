import { framesMessage, isHeaderName, isHeaderValue } from "../protocol/header-syntax.ts";

/** The address in its normal form, or why it cannot be used, as the rest of a sentence that shows nothing of it. */
export function readUrl(text: string): { readonly url: URL } | { readonly reason: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { reason: "is not a valid address; write it as http://host:port/path or https://host/path" }; // The parser's own message quotes it.
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return { reason: "must begin with http:// or https://" };
  if (url.username !== "" || url.password !== "") {
    return { reason: "must not hold a user name or password; use headers" };
  }
  url.hash = "";
  return { url };
}

/** Why a header cannot be sent, as the rest of a sentence that never shows its value; nothing if it can. */
export function headerFlaw(name: string, value: string, others: Iterable<string>): string | undefined {
  if (!isHeaderName(name)) return "has a name that no HTTP header may have";
  if (framesMessage(name)) return "is set by the transport itself";
  if (!isHeaderValue(value))
    return "has a value with a line break, NUL or another character that no HTTP header may have";
  for (const other of others) if (other.toLowerCase() === name.toLowerCase()) return "is there twice";
  return undefined;
}
