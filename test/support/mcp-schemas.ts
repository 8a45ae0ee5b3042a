import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

type Json = Readonly<Record<string, unknown>>;

/** Unions that consist of one member look like it, and are not its definition. */
const UNIONS: ReadonlySet<string> = new Set([
  "ClientRequest",
  "ClientNotification",
  "ServerRequest",
  "ServerNotification",
]);
/** What the results of the server's questions are called. */
const ANSWERS: Readonly<Record<string, string>> = {
  ping: "EmptyResult",
  "roots/list": "ListRootsResult",
  "sampling/createMessage": "CreateMessageResult",
  "elicitation/create": "ElicitResult",
};

const RESULTS = ["JSONRPCResultResponse", "JSONRPCResponse"];
const ERRORS = ["JSONRPCErrorResponse", "JSONRPCError"];
const OFFERED = "2025-11-25";
const SELF_DESCRIBING = "2026-07-28";
const schemas = new Map<string, McpSchema>();

/**
 * What is wrong with the messages that one server process got from us, by the schema of the revision that was offered or
 * declared. Methods of a test's own invention are passed over.
 */
export function wireProblems(messages: readonly Json[]): string[] {
  const found: string[] = [];
  for (const message of messages) {
    const meta = (message["params"] as { _meta?: Json } | undefined)?._meta;
    const revision = meta?.["io.modelcontextprotocol/protocolVersion"] === undefined ? OFFERED : SELF_DESCRIBING;
    const schema = schemas.get(revision) ?? new McpSchema(revision);
    schemas.set(revision, schema);
    if (typeof message["method"] === "string" && !schema.has(message["method"])) continue;
    const problems = typeof message["method"] === "string" ? schema.problems(message) : schema.envelope(message);
    found.push(...problems.map((problem) => `${JSON.stringify(message).slice(0, 300)}: ${problem}`));
  }
  return found;
}

/** The official JSON Schema of one revision, for messages that we send. */
export class McpSchema {
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #definitions: Readonly<Record<string, Json>>;
  readonly #byMethod = new Map<string, string>();
  readonly #compile: (definition: string) => ValidateFunction;

  constructor(revision: string) {
    const path = new URL(`../fixtures/mcp-schemas/${revision}.json`, import.meta.url);
    const schema = JSON.parse(readFileSync(path, "utf8")) as Json;
    const key = "$defs" in schema ? "$defs" : "definitions";
    const options = { strict: false, validateFormats: false, allErrors: true };
    const ajv = key === "$defs" ? new Ajv2020(options) : new Ajv(options);
    ajv.addSchema(schema, "mcp");
    this.#compile = (definition) => ajv.compile({ $ref: `mcp#/${key}/${definition}` });
    this.#definitions = schema[key] as Readonly<Record<string, Json>>;
    for (const [name, definition] of Object.entries(this.#definitions)) {
      const method = (definition["properties"] as Readonly<Record<string, Json>> | undefined)?.["method"]?.["const"];
      if (typeof method === "string" && !UNIONS.has(name)) this.#byMethod.set(method, name);
    }
  }

  /** What is wrong with a message of ours; empty if nothing is. `question`: the method of the request that it answers. */
  problems(message: Json, question?: string): string[] {
    const { method } = message;
    if (typeof method === "string") {
      const definition = this.#byMethod.get(method);
      return definition === undefined ? [`${method} is not in the schema`] : this.#check(definition, message);
    }
    const envelope = this.envelope(message);
    if (message["error"] !== undefined) return envelope;
    const answer = question === undefined ? undefined : ANSWERS[question];
    return [
      ...envelope,
      ...(answer === undefined ? ["an answer to no question"] : this.#check(answer, message["result"])),
    ];
  }

  has(method: string): boolean {
    return this.#byMethod.has(method);
  }

  /** What is wrong with an answer, whatever it answers. */
  envelope(message: Json): string[] {
    const names = message["error"] === undefined ? RESULTS : ERRORS;
    return this.#check(this.#first(...names), message);
  }

  #first(...names: string[]): string {
    return names.find((name) => name in this.#definitions) ?? "missing";
  }

  #check(definition: string, value: unknown): string[] {
    let validate = this.#validators.get(definition);
    if (validate === undefined) {
      validate = this.#compile(definition);
      this.#validators.set(definition, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${definition}${instancePath} ${message ?? ""}`);
  }
}
