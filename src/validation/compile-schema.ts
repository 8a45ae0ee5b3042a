import { Ajv, type AnySchema, type ErrorObject, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Check } from "./validator.ts";

const OPTIONS: Options = { strict: false, allErrors: false, validateSchema: false, validateFormats: false, logger: false, addUsedSchema: false };
const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 5000;
/** Backtracking patterns are the one way in which a small schema can take for ever. */
const MAX_PATTERN = 200;
const NESTED_QUANTIFIER = /[+*}]\s*\)\s*[+*{]/;

/** A check for one schema; problems of the schema itself become `unchecked` answers. Never throws. */
export function compileSchema(schema: object, limitBytes: number): (value: unknown) => Check {
  const problem = schemaProblem(schema, limitBytes);
  if (problem !== undefined) return () => ({ kind: "unchecked", reason: problem });
  try {
    const validate = engineFor(schema)?.compile(schema as AnySchema);
    if (validate === undefined) return () => ({ kind: "unchecked", reason: "it names a JSON Schema dialect that is not supported" });
    return (value) => {
      try {
        if (validate(value) === true) return { kind: "match" };
        return mismatch(validate.errors?.[0]);
      } catch (error) {
        return { kind: "unchecked", reason: error instanceof Error ? error.message : String(error) };
      }
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : String(error);
    return () => ({ kind: "unchecked", reason });
  }
}

/** A fresh engine for each schema: ajv keeps what it compiled, by object, for ever. */
function engineFor(schema: object): Ajv | undefined {
  const dialect = (schema as { $schema?: unknown }).$schema;
  if (dialect === undefined) return new Ajv2020(OPTIONS);
  if (typeof dialect !== "string") return undefined;
  if (dialect.includes("2020-12")) return new Ajv2020(OPTIONS);
  if (dialect.includes("2019-09")) return new Ajv2019(OPTIONS);
  return dialect.includes("draft-07") ? new Ajv(OPTIONS) : undefined;
}

function mismatch(error: ErrorObject | undefined): Check {
  return { kind: "mismatch", path: error?.instancePath ?? "", reason: error?.message ?? "it does not fit" };
}

function schemaProblem(schema: object, limitBytes: number): string | undefined {
  let left = MAX_SUBSCHEMAS;
  let problem: string | undefined;
  const walk = (node: unknown, depth: number): void => {
    if (problem !== undefined || typeof node !== "object" || node === null) return;
    if (depth > MAX_DEPTH || left-- <= 0) {
      problem = "it is too deep or too large";
      return;
    }
    for (const [key, value] of Object.entries(node)) {
      if ((key === "$ref" || key === "$dynamicRef") && typeof value === "string" && !value.startsWith("#")) problem = `its ${key} leads outside (${value.slice(0, 100)}); nothing is fetched`;
      if (key === "pattern" && typeof value === "string" && (value.length > MAX_PATTERN || NESTED_QUANTIFIER.test(value))) problem = "one of its patterns could take too long";
      walk(value, depth + 1);
    }
  };
  walk(schema, 0);
  if (problem === undefined && JSON.stringify(schema).length > limitBytes) problem = `it has more than ${limitBytes} bytes`;
  return problem;
}
