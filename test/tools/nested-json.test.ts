import { describe, expect, test } from "@jest/globals";
import { withoutNestedJson } from "../../src/tools/nested-json.ts";

const SCHEMA = {
  type: "object",
  $defs: { Point: { type: "object", properties: { x: { type: "number" } } } },
  properties: {
    object: { type: "object" },
    list: { type: "array", items: { type: "string" } },
    choices: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    nullable: { anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] },
    referred: { $ref: "#/$defs/Point" },
    text: { type: "string" },
    either: { anyOf: [{ type: "string" }, { type: "object" }] },
    oneOfMany: { anyOf: [...Array.from({ length: 7 }, () => ({ type: "object" })), { type: "string" }] },
    textOrList: { type: ["string", "array"], items: { type: "string" } },
    anything: {},
    constructor: { type: "object" },
  },
};

describe("an argument that a model has written as JSON text", () => {
  test.each([
    ["object", '{"a":{"b":[1]}}', { a: { b: [1] } }],
    ["list", '["a","b"]', ["a", "b"]],
    ["choices", '["a",1]', ["a", 1]],
    ["nullable", "[]", []],
    ["referred", '{"x":1}', { x: 1 }],
    ["constructor", "{}", {}],
  ])("is what it says where the tool takes nothing else (%s)", (name, text, value) => {
    expect(withoutNestedJson({ [name]: text, text: "{}" }, SCHEMA)).toEqual({ [name]: value, text: "{}" });
  });

  test.each([
    ["text", '{"a":1}'],
    ["either", '{"a":1}'],
    ["oneOfMany", '{"a":1}'],
    ["textOrList", '["a"]'],
    ["anything", '{"a":1}'],
    ["unknown", '{"a":1}'],
    ["toString", '{"a":1}'],
    ["object", '["a"]'],
    ["list", '{"a":1}'],
    ["object", "{not json}"],
    ["object", "plain"],
    ["list", "a, b"],
  ])("stays a text where it may be one, or is no such thing (%s: %s)", (name, text) => {
    const args = { [name]: text };
    expect(withoutNestedJson(args, SCHEMA)).toBe(args);
  });

  test.each([undefined, null, true, {}, { properties: [] }])(
    "stays a text without a schema that says more (%j)",
    (schema) => {
      const args = { object: "{}" };
      expect(withoutNestedJson(args, schema)).toBe(args);
    },
  );
});
