import { cut } from "../cut.ts";
import { AdapterError } from "../errors.ts";

/** Whose text is expanded, for errors. */
export interface Owner {
  readonly server: string;
  readonly configPath: string;
}

const NAME = /^[A-Za-z_]\w*(?:\(x86\))?$/i;
/** VS Code's, Windsurf's and those of extension packages. */
const FOREIGN = /^(?:(?:input|command|config|extension\w*|workspaceFolder|file|secrets?):|user_config\.)/;
const NAMESPACE = "env:";
const DEFAULT = ":-";
const QUOTED_CHARACTERS = 60;
/** Each level of defaults is looked through once more, and has a stack frame. */
const MAX_NESTING = 16;
/** Characters that all variables of one entry may come to; no system starts a program with more. */
const MAX_CHARACTERS = 2_097_152;

/**
 * Replaces `${VAR}`, `${env:VAR}` and `${VAR:-default}` in the texts of one entry, once: values are never looked through
 * again. A default counts where the variable is unset or empty, and may itself hold variables. `$${` stands for a literal
 * `${`. Remembers which variables were looked at and what they held.
 */
export class Expansion {
  readonly used: Map<string, string | undefined> = new Map();
  readonly #owner: Owner;
  readonly #platform: NodeJS.Platform;
  readonly #inherited: LookUp;
  #given: LookUp = () => undefined;
  #characters = 0;

  constructor(owner: Owner, env: NodeJS.ProcessEnv, platform: NodeJS.Platform) {
    this.#owner = owner;
    this.#platform = platform;
    this.#inherited = lookUpIn(env, platform);
  }

  /** @throws AdapterError `config.variable` for an unset variable, `config.entry` for what is none, or too much of it. */
  text(text: string, field: string): string {
    return this.#expanded(text, field, 0);
  }

  /** Has what is expanded from now on use these, too, where the environment has no variable of the name. */
  give(variables: Readonly<Record<string, string>>): void {
    this.#given = lookUpIn(variables, this.#platform);
  }

  #expanded(text: string, field: string, depth: number): string {
    let result = "";
    let rest = 0;
    for (let at = text.indexOf("${"); at !== -1; at = text.indexOf("${", rest)) {
      if (text[at - 1] === "$") {
        result += `${text.slice(rest, at - 1)}\${`;
        rest = at + 2;
        continue;
      }
      const end = closingBrace(text, at + 2);
      if (end === -1) throw this.#refuse(field, 'has "${" without its "}"; write "$${" for a literal "${"');
      result += text.slice(rest, at) + this.#value(text.slice(at + 2, end), field, depth);
      rest = end + 1;
    }
    return result + text.slice(rest);
  }

  #value(inner: string, field: string, depth: number): string {
    const named = inner.startsWith(NAMESPACE) ? inner.slice(NAMESPACE.length) : inner;
    const split = named.indexOf(DEFAULT);
    const name = split === -1 ? named : named.slice(0, split);
    if (!NAME.test(name)) {
      const reason = FOREIGN.test(inner)
        ? `only another program fills in; write a variable such as \${${variableNameFor(inner)}}`
        : 'is not a variable; write "$${" for a literal "${"';
      throw this.#refuse(field, `has ${quoted(`\${${inner}}`)}, which ${reason}`);
    }
    const inherited = this.#inherited(name);
    this.used.set(name, inherited);
    const value = inherited ?? this.#given(name);
    if (split !== -1 && (value === undefined || value === "")) {
      if (depth === MAX_NESTING) throw this.#refuse(field, `nests defaults more than ${MAX_NESTING} levels deep`);
      return this.#expanded(named.slice(split + DEFAULT.length), field, depth + 1);
    }
    if (value === undefined) throw new AdapterError("config.variable", { ...this.#owner, field, variable: name });
    this.#characters += value.length;
    if (this.#characters > MAX_CHARACTERS)
      throw this.#refuse(field, "comes to megabytes once its variables are expanded; use fewer of them");
    return value;
  }

  #refuse(field: string, reason: string): AdapterError {
    return new AdapterError("config.entry", { ...this.#owner, field, reason });
  }
}

type LookUp = (name: string) => string | undefined;

/** Looks variables up by name. Windows compares names without case: all are gone through once for that, not for each name. */
export function lookUpIn(variables: Readonly<NodeJS.ProcessEnv>, platform: NodeJS.Platform): LookUp {
  let folded: Map<string, string | undefined> | undefined;
  return (name) => {
    const value: unknown = variables[name];
    if (typeof value === "string") return value; // `constructor` and the like come from the prototype and are no text.
    if (platform !== "win32") return undefined;
    // Of names that differ only by case the first counts.
    folded ??= new Map(
      Object.keys(variables)
        .reverse()
        .map((key) => [key.toUpperCase(), variables[key]]),
    );
    return folded.get(name.toUpperCase());
  };
}

/** Marks a text so that nothing in it is expanded. */
export function literal(text: string): string {
  return text.replaceAll("${", () => "$${"); // In a plain replacement text "$$" would mean "$".
}

/** What a variable may be called for another program's `input:apiKey` or `~/api-key`: `API_KEY`. */
export function variableNameFor(foreign: string): string {
  const last = foreign.replace(FOREIGN, "").split("/").at(-1) ?? "";
  const words = last.replace(/([a-z0-9])([A-Z])/g, "$1_$2").split(/\W+/);
  const name = words.filter(Boolean).join("_").toUpperCase();
  return /^[A-Z_]\w{0,39}$/.test(name) ? name : "VAR";
}

function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{") open++;
    else if (text[at] === "}" && --open === 0) return at;
  }
  return -1;
}

function quoted(text: string): string {
  return JSON.stringify(cut(text, QUOTED_CHARACTERS));
}
