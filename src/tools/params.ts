import type { ToolName } from "../contract.ts";
import { defined } from "../defined.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { Target } from "../runtime/target.ts";

type Params = Readonly<Record<string, unknown>>;

const TEXT_CHARACTERS = 4096;
const URL_CHARACTERS = 8192;

/** Reads one tool's parameters; every problem is an `invalid_params` that names the place and what belongs there. */
export class ParamReader {
  readonly #tool: ToolName;
  readonly #params: Params;
  readonly #limits: Limits;
  /** The place of the parameters themselves, where they stand within others. */
  readonly #place: string;

  constructor(tool: ToolName, params: Params, limits: Limits, place = "") {
    this.#tool = tool;
    this.#params = params;
    this.#limits = limits;
    this.#place = place;
  }

  fail(path: string, reason: string, hint?: string): AdapterError {
    return new AdapterError("params.invalid", {
      tool: this.#tool,
      path: this.#place + path,
      reason,
      ...defined({ hint }),
    });
  }

  /** A string, or `undefined` where nothing is meant. */
  text(name: string, maxCharacters: number = TEXT_CHARACTERS): string | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw this.fail(name, "must be a string");
    if (value.length > maxCharacters) throw this.fail(name, `must have at most ${maxCharacters} characters`);
    return value;
  }

  /** A tool or method name, verbatim. */
  name(name: string): string | undefined {
    return this.text(name, this.#limits.nameCharacters);
  }

  choice<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined)
      throw this.fail(name, `must be one of ${choices.map((c) => JSON.stringify(c)).join(", ")}`);
    return found;
  }

  /** Milliseconds of `timeoutSeconds`, or `undefined`. */
  timeoutMs(): number | undefined {
    const value = this.#value("timeoutSeconds");
    if (value === undefined) return undefined;
    const { minTimeoutSeconds: min, maxTimeoutSeconds: max } = this.#limits;
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
      throw this.fail("timeoutSeconds", `must be a whole number from ${min} to ${max}`);
    return value * 1000;
  }

  /** `server` (with or without `configPath`), or `url`, or none of them. */
  target(): Target {
    const server = this.text("server");
    const configPath = this.text("configPath");
    const url = this.text("url", URL_CHARACTERS);
    // Where no other part of a target is there, not even empty, it is meant.
    if (this.#params["url"] === "" && this.#params["server"] === undefined && this.#params["configPath"] === undefined)
      throw this.fail("url", "is empty", "Give the address of a server, or leave it out.");
    if (url !== undefined && server !== undefined)
      throw this.fail("url", "cannot be given together with server", this.#tool === "mcp_call" ? TOOLS_URL : EITHER);
    if (url !== undefined && configPath !== undefined)
      throw this.fail("url", "cannot be given together with configPath", EITHER);
    return { server, configPath, url };
  }

  requireTarget(target: Target): void {
    if (target.server === undefined && target.url === undefined)
      throw this.fail("server", "is missing", "Name a configured server (mcp_list shows them), or give url.");
  }

  /** An object, empty if it is absent. */
  object(name: string): Record<string, unknown> {
    return this.objectIfGiven(name) ?? {};
  }

  /** An object; models also send it as a JSON string. */
  objectIfGiven(name: string): Record<string, unknown> | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const given = typeof value === "string" ? this.#parsed(name, value) : value;
    if (given === null) return undefined;
    if (typeof given !== "object" || Array.isArray(given)) throw this.fail(name, "must be an object", EXPECTED_OBJECT);
    return given as Record<string, unknown>;
  }

  /** The value as it is; `undefined` where it is absent, or null or an empty string, with which models fill what they do not mean. */
  #value(name: string): unknown {
    const value = Object.hasOwn(this.#params, name) ? this.#params[name] : undefined;
    return value === null || value === "" ? undefined : value;
  }

  #parsed(name: string, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.fail(name, "must be an object; it is a string that is not valid JSON", EXPECTED_OBJECT);
    }
  }
}

const EITHER = "Give one of them.";
/** Many a tool takes a url of its own. */
const TOOLS_URL = 'Give one of them; a url that is for the tool belongs in "arguments".';
const EXPECTED_OBJECT = 'Expected a JSON object such as {"text": "hello"}.';
