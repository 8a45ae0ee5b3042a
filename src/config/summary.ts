import type { CheckedEndpoint } from "./endpoint.ts";
import { maskedArguments, maskedUrl } from "./written-secrets.ts";

/** An endpoint as its file writes it, for people: variables stay unexpanded, what looks like a written-out secret is masked. */
export function summaryOf(endpoint: CheckedEndpoint): string {
  if (endpoint.kind === "http") return maskedUrl(endpoint.url);
  // It is read and not pasted into a shell: a variable needs no quotes.
  return [endpoint.command, ...maskedArguments(endpoint.args)]
    .map((part) => (/^[^\s"']+$/.test(part) ? part : JSON.stringify(part)))
    .join(" ");
}
