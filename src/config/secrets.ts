import { type Endpoint, oauthSecrets } from "../server-spec.ts";

const LEAST_CHARACTERS = 8;
/** Variables that are no secrets: masking them would garble every path. */
const PLAIN_FACTS = new Set([
  ...["HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "PATH", "TMPDIR", "TEMP", "TMP", "LANG", "SHELL", "HOSTNAME", "TERM"],
  ...["USERPROFILE", "USERNAME", "USERDOMAIN", "COMPUTERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PUBLIC"],
  ...["PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "HOMEDRIVE", "HOMEPATH", "COMSPEC"],
]);
const SECRET_NAME =
  /TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|(^|_)PASS(_|$)|AUTH(?!OR)|CREDENTIAL|COOKIE|BEARER|SIGNATURE/i;
const PLAIN_HEADER = /^(accept(-.*)?|content-type|user-agent|cache-control)$/i;
const URL_PASSWORD = /\/\/[^/@\s:]*:([^/@\s]+)@/g;

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
  const parts =
    endpoint.kind === "stdio"
      ? [
          ...namedSecrets(Object.entries(endpoint.env)),
          ...passwords([...endpoint.args, ...Object.values(endpoint.env)]),
        ]
      : [...headerSecrets(endpoint.headers), ...namedSecrets(new URL(endpoint.url).searchParams)];
  for (const part of parts) found.add(part);
  if (endpoint.kind === "http" && endpoint.oauth) for (const part of oauthSecrets(endpoint.oauth)) found.add(part);
  return [...found].filter((value) => value.length >= LEAST_CHARACTERS && !plain.includes(value));
}

/** Whether a field, variable or parameter of that name usually holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !PLAIN_FACTS.has(name.toUpperCase());
}

function* namedSecrets(pairs: Iterable<readonly [string, string]>): Iterable<string> {
  for (const [name, value] of pairs) if (isSecretName(name)) yield value;
}

function* headerSecrets(headers: Readonly<Record<string, string>>): Iterable<string> {
  for (const [name, value] of Object.entries(headers)) {
    if (PLAIN_HEADER.test(name)) continue;
    yield value;
    const scheme = /^[A-Za-z][\w-]* +(\S.*)$/.exec(value); // "Bearer xyz"
    if (scheme?.[1] !== undefined) yield scheme[1];
  }
}

function* passwords(texts: Iterable<string>): Iterable<string> {
  for (const text of texts) for (const match of text.matchAll(URL_PASSWORD)) if (match[1] !== undefined) yield match[1];
}
