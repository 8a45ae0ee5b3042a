import { MASK } from "../mask.ts";

/** Variables that are no secrets: masking them would garble every path. */
const PLAIN_FACTS = new Set([
  ...["HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "PATH", "TMPDIR", "TEMP", "TMP", "LANG", "SHELL", "HOSTNAME", "TERM"],
  ...["USERPROFILE", "USERNAME", "USERDOMAIN", "COMPUTERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PUBLIC"],
  ...["PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "HOMEDRIVE", "HOMEPATH", "COMSPEC"],
]);
const SECRET_NAME =
  /TOKEN(?!I[SZ])|(?<!HOT|MON)KEY(?!BOARD|CLOAK|SPACE|STORE|STROKE|WORD)|SECRET|PASSWORD(?!LESS)|PASSWD|PASSPHRASE|(^|[_-])(PASS|PAT|PWD|JWT|SIG)([_-]|$)|AUTH(?!OR(?!I[SZ]ATION$))|CREDENTIAL|COOKIE|BEARER|SIGNATURE/i;
/** Names of things that only concern a secret, such as its kind, its place or how many there may be. */
const SWITCH = /^-*(no|max|min|enable|disable|require|skip)[_.-]/i;
const FEATURE =
  /(enabled|required|mode|type|format|prefix|method|mechanism|algorithm|provider|version|policy|metadata|authenticator|file|path|dir|directory|folder|name|env|var|database|audience|issuer|scope|host|port|url|uri|endpoint|server|timeout|ttl|limit|budget|size|length)s?$/i;
/** As a header it holds a secret, as an option it says how to sign in. */
const AUTHENTICATION = /^-.*authentication$/i;
/** Behind a telling name it says where the secret is kept. */
const FILE_PATH = /^(~|\.\.?|\/(etc|home|mnt|opt|private|root|run|srv|tmp|usr|Users|var)|[A-Za-z]:)[\\/]/;
const OPTION = /^--?[\w.-]+$/;
const OPTION_VALUE = /^(--?[\w.-]+)(=)(.+)$/s;
const HEADER_OPTION = /^(-H|--?headers?)$/;
const HEADER_NAME = /^[\w-]+$/;
const NESTED_OPTION = /\s--?\w/;
/** What follows is a command line. */
const COMMAND_OPTION = /^(-[A-Za-z]*c|\/[cCkK]|--?(stdio|[cC]ommand|cmd|exec))$/;
/** One word of it, perhaps in quotes; not what a shell would run in its place. */
const WORD = String.raw`(?:"((?:\$\{[^{}]*\}|[^"$\x60])*)"|'([^']*)'|((?:\$\{[^{}]*\}|[^\s;&|()<>"'$\x60])+))`;
const COMMAND_ASSIGNMENT = new RegExp(String.raw`((?:^|[\s;&|("]|\$env:)([A-Za-z_]\w*)=)${WORD}`, "g");
const COMMAND_VALUE = new RegExp(String.raw`((?:^|\s)(--?[\w.-]+)(?:=|\s+)(?!-))${WORD}`, "g");
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

/** Whether this is the value of a field, variable or parameter of a name that usually holds a secret. */
export function isNamedSecret(name: string, value: string): boolean {
  if (!SECRET_NAME.test(name) || isPlainFact(name) || FILE_PATH.test(value)) return false;
  return !SWITCH.test(name) && !FEATURE.test(name) && !AUTHENTICATION.test(name);
}

/**
 * A program's arguments with `replace` applied to what looks like a written-out secret: what follows a telling name, and what
 * `replaceInText` finds.
 */
export function replaceInArguments(args: readonly string[], replace: (secret: string) => string): string[] {
  let option = "";
  return args.map((argument) => {
    const before = option;
    // Some take a header as two arguments: its name stands for the option then.
    const isName =
      OPTION.test(argument) ||
      COMMAND_OPTION.test(argument) ||
      (HEADER_OPTION.test(before) && HEADER_NAME.test(argument));
    option = isName ? argument : "";
    if (isName) return argument;
    if (!argument.startsWith("-") && isNamedSecret(before, argument)) return replace(argument);
    return replaceInArgument(argument, before, replace);
  });
}

function replaceInArgument(argument: string, before: string, replace: (secret: string) => string): string {
  if (COMMAND_OPTION.test(before)) return replaceInCommand(argument, replace);
  const [, option = "", equals = "", value = argument] = OPTION_VALUE.exec(argument) ?? [];
  if (isNamedSecret(option, value)) return option + equals + replace(value);
  const pattern = HEADER_OPTION.test(option || before) ? HEADER : ASSIGNMENT;
  const [, name = "", separator = "", rest = value] = pattern.exec(value) ?? [];
  const replaced = isNamedSecret(name, rest) ? replace(rest) : replaceInWords(rest, replace);
  return option + equals + name + separator + replaced;
}

/** A text, which may be the command line that the program is to start (`mcp-proxy "npx server --api-key x"`). */
function replaceInWords(text: string, replace: (secret: string) => string): string {
  return NESTED_OPTION.test(text) ? replaceInCommand(text, replace) : replaceInText(text, replace);
}

/** What a program or a shell is to start: of it no more is a secret than single words. */
function replaceInCommand(command: string, replace: (secret: string) => string): string {
  const replaced = (whole: string, lead: string, name: string, ...[double, single, bare]: string[]): string => {
    const value = double ?? single ?? bare ?? "";
    const quote = double !== undefined ? '"' : single !== undefined ? "'" : "";
    if (isNamedSecret(name, value)) return lead + quote + replace(value) + quote;
    return OPTION.test(name) ? lead + quote + replaceInArgument(value, name, replace) + quote : whole;
  };
  return replaceInText(command.replace(COMMAND_ASSIGNMENT, replaced).replace(COMMAND_VALUE, replaced), replace);
}

/** A text with `replace` applied to passwords in its addresses, and to the values of parameters and of JSON with a telling name. */
export function replaceInText(text: string, replace: (secret: string) => string): string {
  const named = (whole: string, lead: string, name: string, separator: string, value: string): string =>
    isNamedSecret(name, value) ? lead + name + separator + replace(value) : whole;
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
