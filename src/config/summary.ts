import { MASK } from "../mask.ts";
import type { CheckedEndpoint } from "./endpoint.ts";
import { isSecretName } from "./secrets.ts";

const OPTION = /^--?([\w-]+)(=?)/;

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
  let hide = false;
  return args.map((argument) => {
    const [, option = "", equals] = OPTION.exec(argument) ?? [];
    const secret = isSecretName(option) && !argument.includes("${");
    if (hide && option === "" && !argument.includes("${")) {
      hide = false;
      return MASK;
    }
    hide = secret && equals === "";
    return secret && equals === "=" ? `${argument.slice(0, argument.indexOf("=") + 1)}${MASK}` : argument;
  });
}

/** An address with its secrets masked. Works on the text, since a URL with variables in it may not parse. */
export function maskedUrl(url: string): string {
  return url
    .replace(/^([a-z]+:\/\/)[^/@]*@/i, `$1${MASK}@`)
    .replace(/([?&])([^=&#]+)=([^&#]*)/g, (whole, lead: string, name: string, value: string) =>
      isSecretName(name) && !value.includes("${") ? `${lead}${name}=${MASK}` : whole,
    );
}
