import { basename, sep } from "node:path";
import { literal, variableNameFor } from "../expand.ts";
import type { Place } from "../place.ts";

/** A text of another tool with its placeholders in our spelling and everything else literal, or why that cannot be done. */
export type Placeholders = (text: string) => string | { readonly refused: string };

/** Tools that expand nothing. */
export const verbatim: Placeholders = literal;

/** Tools that expand as we do. */
export const ours: Placeholders = (text) => text;

/** VS Code and Cursor: `${env:X}` and the workspace's places. */
export function editor({ cwd, home }: Place): Placeholders {
  const places: Readonly<Record<string, string>> = {
    workspaceFolder: cwd,
    workspaceFolderBasename: basename(cwd),
    cwd,
    userHome: home,
    pathSeparator: sep,
    "/": sep,
  };
  return (text) =>
    replace(text, /\$\{([^{}]*)\}/g, (whole, inner) => {
      if (inner.startsWith("env:")) return whole.replace("env:", "");
      if (Object.hasOwn(places, inner)) return literal(places[inner] ?? "");
      if (/^(input|command|config|extension\w*|workspaceFolder):/.test(inner))
        return refuse(whole, "only the editor can fill in", `\${env:${variableNameFor(inner)}}`);
      return literal(whole);
    });
}

/** Windsurf: `${env:X}`; `${file:…}` would read any file. */
export const windsurf: Placeholders = envOrFile(/\$\{(env|file):([^{}]*)\}/g, (name) => `\${env:${name}}`);

/** OpenCode: `{env:X}`; `{file:…}` would read any file. */
export const opencode: Placeholders = envOrFile(/\{(env|file):([^{}]*)\}/g, (name) => `{env:${name}}`);

/** Gemini: `$X`, `${X}` and `${X:-default}`. */
export const gemini: Placeholders = (text) =>
  replace(text, /\$(?:([A-Za-z_]\w*)|\{([^{}]+)\})/g, (_whole, bare, braced) => `\${${bare || braced}}`);

function envOrFile(pattern: RegExp, written: (variable: string) => string): Placeholders {
  return (text) =>
    replace(text, pattern, (whole, kind, name) =>
      kind === "env" ? `\${${name}}` : refuse(whole, "is not read", written(variableNameFor(name))),
    );
}

type Replaced = string | { readonly refused: string };

function replace(text: string, pattern: RegExp, value: (whole: string, ...groups: string[]) => Replaced): Replaced {
  let result = "";
  let rest = 0;
  for (const match of text.matchAll(pattern)) {
    const found = value(match[0], ...match.slice(1).map((group) => group ?? ""));
    if (typeof found !== "string") return found;
    const before = literal(text.slice(rest, match.index));
    // Our format reads "$${" as a literal "${".
    if (before.endsWith("$") && found.startsWith("${"))
      return refuse(match[0], "follows a $ and cannot be told from a literal one", "${VAR}");
    result += before + found;
    rest = match.index + match[0].length;
  }
  return result + literal(text.slice(rest));
}

/** `instead` is how a variable is written in that file. */
function refuse(placeholder: string, reason: string, instead: string): { readonly refused: string } {
  return { refused: `has ${placeholder}, which ${reason}; write a variable such as ${instead} instead` };
}
