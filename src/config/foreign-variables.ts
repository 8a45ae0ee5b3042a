import { isObject } from "../protocol/jsonrpc.ts";

/** Of a whole word, or of what follows one in a header or an address: within a word it may be part of a password. */
const BARE = /(?:^|[\s=/:&,])\$[A-Z_][A-Z0-9_]{2,}(?![\w$])/;
const BRACED = /\{env:\w+\}/;

/**
 * Where an entry of ours writes variables as Gemini (`$VAR`) or OpenCode (`{env:VAR}`) does, which are ordinary text here, and why
 * that is told. In a command line `$VAR` may be a shell's.
 */
export function foreignVariables(raw: unknown): readonly (readonly [field: string, reason: string])[] {
  if (!isObject(raw)) return [];
  const found: (readonly [string, string])[] = [];
  const look = (field: string, value: unknown, bare: boolean): void => {
    if (isObject(value)) for (const [key, item] of Object.entries(value)) look(`${field}.${key}`, item, bare);
    else if (Array.isArray(value)) for (const [at, item] of value.entries()) look(`${field}[${at}]`, item, bare);
    // Most have neither: the first use of a regular expression would be felt in a first call.
    else if (typeof value === "string" && (value.includes("$") || value.includes("{env:"))) {
      const written = BRACED.test(value.replaceAll("${", ""))
        ? "{env:VAR}"
        : bare && BARE.test(value)
          ? "$VAR"
          : undefined;
      if (written !== undefined)
        found.push([field, `has a variable written as ${written}, which is passed on as it stands; write \${VAR}`]);
    }
  };
  for (const field of ["env", "url", "headers", "bearerToken"]) look(field, raw[field], true);
  look("args", raw["args"], false);
  return found;
}
