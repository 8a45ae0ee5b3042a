import { type Endpoint, oauthSecrets, type ServerSpec } from "../server-spec.ts";
import { isNamedSecret, isPlainFact, replaceInArguments, replaceInText } from "./written-secrets.ts";

const LEAST_CHARACTERS = 8;
const PLAIN_HEADER = /^(accept(-.*)?|content-type|user-agent|cache-control)$/i;

export interface SecretSources {
  readonly endpoint: Endpoint;
  /** The variables that were expanded. */
  readonly used: ReadonlyMap<string, string | undefined>;
  /** Values that are known to everybody: the working directory, the home folder. */
  readonly plain: readonly string[];
}

/** Every value of a server that must not be shown, and the variables that brought some of them. */
export function secretsOf({ endpoint, used, plain }: SecretSources): Pick<ServerSpec, "secrets" | "variables"> {
  const isSecret = (value: string): boolean => value.length >= LEAST_CHARACTERS && !plain.includes(value);
  const variables = new Map<string, string>();
  for (const [name, value] of used) if (value !== undefined && !isPlainFact(name)) variables.set(name, value);
  const found = new Set<string>(variables.values());
  const add = (secret: string): string => {
    for (const part of [secret, ...afterScheme(secret)]) found.add(part);
    return secret;
  };
  if (endpoint.kind === "stdio") {
    replaceInArguments(endpoint.args, add);
    for (const [name, value] of Object.entries(endpoint.env)) {
      if (isNamedSecret(name, value)) found.add(value);
      replaceInText(value, add);
    }
  } else {
    for (const value of [...found])
      if (!plain.includes(value)) for (const spelling of inAddress(value)) found.add(spelling);
    for (const [name, value] of new URL(endpoint.url).searchParams) if (isNamedSecret(name, value)) found.add(value);
    replaceInText(endpoint.url, add);
    for (const [name, value] of Object.entries(endpoint.headers)) if (!PLAIN_HEADER.test(name)) add(value);
    if (endpoint.oauth) for (const part of oauthSecrets(endpoint.oauth)) found.add(part);
  }
  return { secrets: [...found].filter(isSecret), variables };
}

/** `xyz` of `Bearer xyz`. */
function afterScheme(value: string): readonly string[] {
  return /^[A-Za-z][\w-]* +(\S.*)$/.exec(value)?.slice(1) ?? [];
}

/** The encodings of a value in the query and in the path of a URL, which encode different characters. */
function* inAddress(value: string): Iterable<string> {
  const url = new URL("http://h");
  url.search = `?${value}`;
  yield url.search.slice(1);
  url.pathname = `/${value}`;
  yield url.pathname.slice(1);
}
