import { MASK } from "../mask.ts";

/** Variables that are no secrets: masking them would garble every path. */
const PLAIN_FACTS = new Set([
  ...["HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "PATH", "TMPDIR", "TEMP", "TMP", "LANG", "SHELL", "HOSTNAME", "TERM"],
  ...["USERPROFILE", "USERNAME", "USERDOMAIN", "COMPUTERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PUBLIC"],
  ...["PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "HOMEDRIVE", "HOMEPATH", "COMSPEC"],
]);
const SECRET_NAME =
  /TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|(^|[_-])(PASS|PAT|PWD|JWT|SIG)([_-]|$)|AUTH(?!OR(?!I[SZ]ATION$))|CREDENTIAL|COOKIE|BEARER|SIGNATURE/i;
const OPTION = /^--?[\w.-]+$/;
const OPTION_VALUE = /^(--?[\w.-]+)(=)(.+)$/s;
const HEADER_OPTION = /^(-H|--?headers?)$/;
/** As docker and env have it, and a header. */
const ASSIGNMENT = /^([\w.-]+)(=|:\s+)(.+)$/s;
const HEADER = /^([\w-]+)(:\s*)(.+)$/s;
/** The password may hold any `@`; a name alone counts where it is as long as a token. */
const USER_INFORMATION = /(\/\/[^/@\s:]*:)([^/?#\s"']+)(?=@)|(\/\/)([^/?#@\s"':]{20,})(?=@)/g;
const PARAMETER = /([?&;])([^=?&;#\s]*)(=)([^&;#\s"']+)/g;
const JSON_MEMBER = /(")([^"\\]+)("\s*:\s*")((?:[^"\\]|\\.)+)/g;
/** The same within a text of JSON. */
const QUOTED_MEMBER = /(\\")([^"\\]+)(\\"\s*:\s*\\")([^"\\]+)/g;

const DEFAULT = /:-[^}]+/g;

/** Whether a variable of that name says what everybody knows about a machine, its folders and its person. */
export function isPlainFact(name: string): boolean {
  return PLAIN_FACTS.has(name.toUpperCase());
}

/** Whether a field, variable or parameter of that name usually holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !isPlainFact(name);
}

/**
 * A program's arguments with `replace` applied to what looks like a written-out secret: what follows a telling name, and what
 * `replaceInText` finds.
 */
export function replaceInArguments(args: readonly string[], replace: (secret: string) => string): string[] {
  let option = "";
  return args.map((argument) => {
    const before = option;
    option = OPTION.test(argument) ? argument : "";
    if (option !== "") return argument;
    if (isSecretName(before) && !argument.startsWith("-")) return replace(argument);
    return replaceInArgument(argument, before, replace);
  });
}

function replaceInArgument(argument: string, before: string, replace: (secret: string) => string): string {
  const [, option = "", equals = "", value = argument] = OPTION_VALUE.exec(argument) ?? [];
  if (isSecretName(option)) return option + equals + replace(value);
  const pattern = HEADER_OPTION.test(option || before) ? HEADER : ASSIGNMENT;
  const [, name = "", separator = "", rest = value] = pattern.exec(value) ?? [];
  const replaced = isSecretName(name) ? replace(rest) : replaceInText(rest, replace);
  return option + equals + name + separator + replaced;
}

/** A text with `replace` applied to passwords in its addresses, and to the values of parameters and of JSON with a telling name. */
export function replaceInText(text: string, replace: (secret: string) => string): string {
  const named = (whole: string, lead: string, name: string, separator: string, value: string): string =>
    isSecretName(name) ? lead + name + separator + replace(value) : whole;
  return text
    .replace(
      USER_INFORMATION,
      (_, lead = "", password = "", slashes = "", token = "") => lead + slashes + replace(password || token),
    )
    .replace(PARAMETER, named)
    .replace(QUOTED_MEMBER, named)
    .replace(JSON_MEMBER, named);
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
