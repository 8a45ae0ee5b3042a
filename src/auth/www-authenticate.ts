/** One challenge of a `WWW-Authenticate` header (RFC 9110 section 11.6.1). */
export interface AuthChallenge {
  /** In lower case. */
  readonly scheme: string;
  /** By lower-case name; the first of equal names counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

// A token, and a value after `=` if there is one. What is not a token is skipped, so that one bad character hides nothing.
const PIECE = /([!#$%&'*+\-.^_`|~\w]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gs;

/** The challenges of all joined header values; never throws. */
export function parseWwwAuthenticate(value: string): readonly AuthChallenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  for (const [, name = "", quoted, plain] of value.matchAll(PIECE)) {
    if (quoted === undefined && plain === undefined) {
      challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
      continue;
    }
    const parameters = challenges.at(-1)?.parameters;
    const key = name.toLowerCase();
    if (parameters === undefined || parameters.has(key)) continue;
    parameters.set(key, quoted === undefined ? (plain ?? "") : quoted.replace(/\\(.)/gs, "$1"));
  }
  return challenges;
}
