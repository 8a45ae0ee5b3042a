import { clock } from "../clock.ts";
import type { ElicitResult } from "../contract.ts";
import type { Limits } from "../limits.ts";
import { Mutex } from "../mutex.ts";
import { INVALID_PARAMS, isObject } from "../protocol/jsonrpc.ts";
import { checkAgainst } from "../validation/validator.ts";
import { errorAnswer, type InputAnswer } from "./answer.ts";

type Ask = (params: Record<string, unknown>) => Promise<ElicitResult | undefined>;
type Field = Readonly<Record<string, unknown>>;

interface Form extends Field {
  readonly properties: Readonly<Record<string, Field>>;
}

const DECLINED: InputAnswer = { result: { action: "decline" } };
/** Client, Elicitation: forms are flat. A field without a type may still be a choice. */
const FIELD_TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", undefined]);

/** A token bucket for the time that checks take: the share of time in the long run, and the burst. */
const CHECK_SHARE = 0.1;
const CHECK_MS = 1000;

/**
 * Validates the host's answers to one server's forms against their schemas, one at a time. The time for it is rate-limited, so that a
 * server with many costly schemas cannot stall the host; once it is used up, answers count as valid.
 */
export class FormChecks {
  readonly #limits: Limits;
  readonly #mutex = new Mutex();
  #spentMs = 0;
  #since = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  fits(schema: object, content: unknown): Promise<boolean> {
    return this.#mutex.run(() => this.#check(schema, content));
  }

  async #check(schema: object, content: unknown): Promise<boolean> {
    const begin = clock.now();
    this.#spentMs = Math.max(0, this.#spentMs - (begin - this.#since) * CHECK_SHARE);
    this.#since = begin;
    if (this.#spentMs >= CHECK_MS) return true;
    const check = await checkAgainst(schema, content, this.#limits);
    this.#spentMs += clock.now() - begin;
    return check.kind !== "mismatch";
  }
}

/**
 * One `elicitation/create`, in form or URL mode (Client, Elicitation). A question that nobody could answer is refused before
 * the host is asked. Defaults of the form are filled in where the host's content leaves them out; content that does not fit
 * the requested schema is declined rather than sent.
 */
export async function elicitation(
  params: Readonly<Record<string, unknown>>,
  ask: Ask,
  checks: FormChecks,
): Promise<InputAnswer> {
  const mode = params["mode"] ?? "form";
  if (mode !== "form" && mode !== "url") return invalid("mode is neither form nor url");
  if (mode === "url") return urlMode(params, ask);
  const form = formOf(params["requestedSchema"]);
  if (form === undefined) return invalid("requestedSchema is not an object schema with simple properties");
  const answer = await ask({ ...params, requestedSchema: form });
  if (!isObject(answer)) return DECLINED;
  if (answer.action !== "accept") return { result: { action: answer.action === "cancel" ? "cancel" : "decline" } };
  const content = filledIn(form.properties, isObject(answer.content) ? answer.content : {});
  return (await checks.fits(form, content)) ? { result: { action: "accept", content } } : DECLINED;
}

async function urlMode(params: Readonly<Record<string, unknown>>, ask: Ask): Promise<InputAnswer> {
  if (!isWebAddress(params["url"])) return invalid("url is not an http or https URL");
  const answer = await ask({ ...params });
  const action = isObject(answer) ? answer.action : undefined;
  return { result: { action: action === "accept" || action === "cancel" ? action : "decline" } };
}

/** The requested schema with nullable fields made plain; `undefined` if it is not the schema of a flat form. */
function formOf(schema: unknown): Form | undefined {
  if (!isObject(schema) || schema["type"] !== "object" || !isObject(schema["properties"])) return undefined;
  const fields = Object.entries(schema["properties"]).map(([name, field]) => [name, withoutNull(field)] as const);
  return fields.every(isField) ? { ...schema, properties: Object.fromEntries(fields) } : undefined;
}

function isField(entry: readonly [string, unknown]): entry is readonly [string, Field] {
  return isObject(entry[1]) && FIELD_TYPES.has(entry[1]["type"]);
}

/**
 * The field without the alternative `null`, and without a default of null: many servers write optional fields that way, and a form can
 * neither show nor produce null.
 */
function withoutNull(field: unknown): unknown {
  if (!isObject(field)) return field;
  const { default: preset, ...bare } = field;
  const kept = preset === null ? bare : field;
  const given = alternatives(kept);
  const [meant, other] = given.filter((each) => each["type"] !== "null");
  if (given.length !== 2 || meant === undefined || other !== undefined) return kept;
  const { enum: values } = meant;
  return Array.isArray(values) ? { ...meant, enum: values.filter((value) => value !== null) } : meant;
}

/** The alternatives of a field with a list of types, or with `anyOf` or `oneOf`, each as a complete field. */
function alternatives(field: Field): readonly Field[] {
  const { type, anyOf, oneOf, ...rest } = field;
  if (Array.isArray(type)) return type.map((each: unknown) => ({ ...field, type: each }));
  const schemas = anyOf ?? oneOf;
  return Array.isArray(schemas) ? schemas.filter(isObject).map((each) => ({ ...each, ...rest })) : [];
}

function isWebAddress(url: unknown): boolean {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** The fields of the form, and no others: what the host gave, else the default. */
function filledIn(properties: Form["properties"], content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const filled: [string, unknown][] = [];
  for (const [name, field] of Object.entries(properties)) {
    const given = Object.hasOwn(content, name) ? content[name] : undefined;
    const value = given ?? field["default"];
    if (value !== undefined) filled.push([name, value]);
  }
  return Object.fromEntries(filled);
}

function invalid(message: string): InputAnswer {
  return errorAnswer(INVALID_PARAMS, message);
}
