import { MASK } from "../mask.ts";
import type { CheckedEndpoint } from "./endpoint.ts";
import { replaceInArguments, replaceInText } from "./secrets.ts";

const DEFAULT = /:-[^}]+/g;

/** An endpoint as its file writes it, for people: variables stay unexpanded, what looks like a written-out secret is masked. */
export function summaryOf(endpoint: CheckedEndpoint): string {
  return endpoint.kind === "stdio" ? commandLine(endpoint.command, endpoint.args) : maskedUrl(endpoint.url);
}

function commandLine(command: string, args: readonly string[]): string {
  return [command, ...maskedArguments(args)]
    .map((part) => (/^[^\s"']+$/.test(part) ? part : JSON.stringify(part)))
    .join(" ");
}

/** Arguments with what looks like a written-out secret masked. */
export function maskedArguments(args: readonly string[]): string[] {
  return replaceInArguments(args, mask);
}

/** An address with its secrets masked. Works on the text, since a URL with variables in it may not parse. */
export function maskedUrl(url: string): string {
  return replaceInText(url.replace(/^([a-z]+:\/\/)[^/@]*@/i, `$1${MASK}@`), mask);
}

/** A text, such as that of a config file, with its secrets masked: members with a telling name, and what stands in addresses. */
export function maskedText(text: string): string {
  return replaceInText(text, mask);
}

/** A variable is no secret, but its default may be one. */
function mask(secret: string): string {
  return secret.includes("${") ? secret.replace(DEFAULT, `:-${MASK}`) : MASK;
}
