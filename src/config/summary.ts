import type { CheckedEndpoint } from "./endpoint.ts";
import { maskedArguments, maskedUrl } from "./written-secrets.ts";

/** An endpoint as its file writes it, for people: variables stay unexpanded, what looks like a written-out secret is masked. */
export function summaryOf(endpoint: CheckedEndpoint): string {
  return endpoint.kind === "stdio" ? commandLine(endpoint.command, endpoint.args) : maskedUrl(endpoint.url);
}

function commandLine(command: string, args: readonly string[]): string {
  return [command, ...maskedArguments(args)]
    .map((part) => (/^[^\s"']+$/.test(part) ? part : JSON.stringify(part)))
    .join(" ");
}
