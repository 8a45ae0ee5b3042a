import type { Check, SchemaLimits } from "./compile-schema.ts";

type Compiled = (value: unknown) => Check;

/** Compiled checks by schema object; an unchanged list keeps its objects, so that nothing is compiled twice. */
const compiled = new WeakMap<object, Compiled>();

/**
 * Validates a value against a server's JSON Schema: 2020-12 unless `$schema` names draft-07 or 2019-09. Nothing is fetched:
 * a reference that leads out of the schema makes it unusable. ajv is loaded on first use.
 * The limits count with the first use of a schema object, which belongs to one plugin.
 */
export async function checkAgainst(schema: object, value: unknown, limits: SchemaLimits): Promise<Check> {
  let check = compiled.get(schema);
  if (check === undefined) {
    const { compileSchema } = await import("./compile-schema.ts");
    check = compileSchema(schema, limits);
    compiled.set(schema, check);
  }
  return check(value);
}
