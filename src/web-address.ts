/** The address of a server in its normal form, or why it cannot be used: the rest of a sentence, which never quotes it. */
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

/** Whether an address leads to this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || /^(127\.[\d.]+|\[::1\])$/.test(hostname);
}

/** A warning about an address that may not be what it looks like, such as Punycode or user information (Elicitation, Safe URL Handling). */
export function deceptionIn({ hostname, username, password }: URL): string | undefined {
  if (/(?:^|\.)xn--/.test(hostname)) return "Its name has letters of other alphabets, and may look like another name.";
  return username === "" && password === "" ? undefined : "What stands before the @ is not its name.";
}
