const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Blanks, tabs and Latin-1, no line ends and no NUL (RFC 9110, section 5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that decide where a message goes or how it is framed: only the transport may set them. */
const FRAMING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Whether an HTTP header may have this name (RFC 9110, section 5.1). */
export function isHeaderName(text: string): boolean {
  return NAME.test(text);
}

/** Whether an HTTP header may have this value (RFC 9110, section 5.5). */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

/**
 * Why a header cannot be sent beside others, as the rest of a sentence that never shows its value; nothing if it can. `others`: their
 * names in lower case.
 */
export function headerFlaw(name: string, value: string, others: ReadonlySet<string>): string | undefined {
  if (!isHeaderName(name)) return "is not a valid HTTP header name";
  if (FRAMING.has(name.toLowerCase())) return "is set by the transport itself";
  if (!isHeaderValue(value)) return "has a line break, NUL or another character in its value that HTTP does not allow";
  return others.has(name.toLowerCase()) ? "is given twice" : undefined;
}
