import { type Endpoint, oauthSecrets } from "../server-spec.ts";

const LEAST_CHARACTERS = 8;
/** Variables that are no secrets: masking them would garble every path. */
const PLAIN_FACTS = new Set([
  ...["HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "PATH", "TMPDIR", "TEMP", "TMP", "LANG", "SHELL", "HOSTNAME", "TERM"],
  ...["USERPROFILE", "USERNAME", "USERDOMAIN", "COMPUTERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PUBLIC"],
  ...["PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "HOMEDRIVE", "HOMEPATH", "COMSPEC"],
]);
const SECRET_NAME =
  /TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|(^|[_-])(PASS|PAT|PWD|JWT|SIG)([_-]|$)|AUTH(?!OR(?!I[SZ]ATION$))|CREDENTIAL|COOKIE|BEARER|SIGNATURE/i;
const PLAIN_HEADER = /^(accept(-.*)?|content-type|user-agent|cache-control)$/i;
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

export interface SecretSources {
  readonly endpoint: Endpoint;
  /** The variables that were expanded. */
  readonly used: ReadonlyMap<string, string | undefined>;
  /** Values that are known to everybody: the working directory, the home folder. */
  readonly plain: readonly string[];
}

/** Every value of a server that must not be shown. */
export function secretsOf({ endpoint, used, plain }: SecretSources): readonly string[] {
  const found = new Set<string>();
  for (const [name, value] of used) if (value !== undefined && !PLAIN_FACTS.has(name.toUpperCase())) found.add(value);
  const add = (secret: string): string => {
    for (const part of [secret, ...afterScheme(secret)]) found.add(part);
    return secret;
  };
  if (endpoint.kind === "stdio") {
    replaceInArguments(endpoint.args, add);
    for (const [name, value] of Object.entries(endpoint.env)) {
      if (isSecretName(name)) found.add(value);
      replaceInText(value, add);
    }
  } else {
    for (const value of [...found])
      if (!plain.includes(value)) for (const spelling of inAddress(value)) found.add(spelling);
    for (const [name, value] of new URL(endpoint.url).searchParams) if (isSecretName(name)) found.add(value);
    replaceInText(endpoint.url, add);
    for (const [name, value] of Object.entries(endpoint.headers)) if (!PLAIN_HEADER.test(name)) add(value);
    if (endpoint.oauth) for (const part of oauthSecrets(endpoint.oauth)) found.add(part);
  }
  return [...found].filter((value) => value.length >= LEAST_CHARACTERS && !plain.includes(value));
}

/** Whether a field, variable or parameter of that name usually holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !PLAIN_FACTS.has(name.toUpperCase());
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

/** `xyz` of `Bearer xyz`. */
function afterScheme(value: string): readonly string[] {
  return /^[A-Za-z][\w-]* +(\S.*)$/.exec(value)?.slice(1) ?? [];
}

/** How an address spells it in its query and in its path: not all characters are encoded there. */
function* inAddress(value: string): Iterable<string> {
  const url = new URL("http://h");
  url.search = `?${value}`;
  yield url.search.slice(1);
  url.pathname = `/${value}`;
  yield url.pathname.slice(1);
}
