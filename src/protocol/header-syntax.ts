const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Would change where a message goes or how it is framed, which only the transport can know. */
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

/** Whether an HTTP header can carry this value: blanks, tabs and Latin-1, no line ends and no NUL (RFC 9110, section 5.5). */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

/** Whether a header of this name is the transport's own to set. */
export function framesMessage(name: string): boolean {
  return FRAMING.has(name.toLowerCase());
}
