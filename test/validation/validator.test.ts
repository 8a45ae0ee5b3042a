import { describe, expect, test } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import type { Check } from "../../src/validation/compile-schema.ts";
import { checkAgainst as checkWithin } from "../../src/validation/validator.ts";

function checkAgainst(schema: object, value: unknown): Promise<Check> {
  return checkWithin(schema, value, LIMITS);
}

const NAMED = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

describe("checking a value against a server's schema", () => {
  test("tells a match from a mismatch, with the place and the reason", async () => {
    expect(await checkAgainst(NAMED, { name: "x" })).toEqual({ kind: "match" });
    expect(await checkAgainst(NAMED, { name: 5 })).toEqual({
      kind: "mismatch",
      path: "/name",
      reason: "must be string",
    });
    expect(await checkAgainst(NAMED, {})).toMatchObject({
      kind: "mismatch",
      path: "",
      reason: expect.stringContaining("name"),
    });
  });

  test.each([
    undefined,
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
  ])("knows the dialect %s", async ($schema) => {
    const schema = { ...($schema === undefined ? {} : { $schema }), ...NAMED };
    expect((await checkAgainst(schema, {})).kind).toBe("mismatch");
    expect((await checkAgainst(schema, { name: "x" })).kind).toBe("match");
  });

  test("reads prefixItems as 2020-12 where no dialect is named", async () => {
    const schema = { type: "array", prefixItems: [{ type: "string" }] };
    expect((await checkAgainst(schema, [5])).kind).toBe("mismatch");
  });

  test.each([
    ["an unknown dialect", { $schema: "urn:nobody", type: "object" }],
    ["a dialect that is no text", { $schema: 5 }],
    ["a remote reference", { $ref: "http://127.0.0.1:1/schema.json" }],
    ["a remote reference inside", { properties: { a: { anyOf: [{ $ref: "https://x.test/y" }] } } }],
    ["an unknown type", { type: "nothing" }],
    ["a broken pattern", { pattern: "(" }],
    ["a reference to nothing", { $ref: "#/$defs/missing" }],
    ["too many bytes", { description: "x".repeat(300_000) }],
    ["too many parts", { anyOf: Array.from({ length: 6000 }, () => ({ type: "string" })) }],
  ])("leaves a value unchecked where the schema has %s", async (_, schema) => {
    expect(await checkAgainst(schema, { any: "value" })).toMatchObject({
      kind: "unchecked",
      reason: expect.any(String),
    });
  });

  test("gives up on a pattern that takes for ever", async () => {
    const schema = { type: "string", pattern: "^(a+)+$" };
    const begin = performance.now();
    expect((await checkAgainst(schema, `${"a".repeat(60)}!`)).kind).toBe("unchecked");
    expect(performance.now() - begin).toBeLessThan(5000);
  });

  test("follows references inside the schema, recursive ones too", async () => {
    const schema = { type: "object", properties: { next: { $ref: "#" }, value: { type: "integer" } } };
    expect((await checkAgainst(schema, { next: { next: { value: 1 } } })).kind).toBe("match");
    expect(await checkAgainst(schema, { next: { next: { value: "1" } } })).toMatchObject({
      kind: "mismatch",
      path: "/next/next/value",
    });
  });
});
