import { expect, test } from "@jest/globals";
import { choicesOf } from "../../src/protocol/choices.ts";

test.each([
  ["values", { enum: ["a", 1] }, ["a", "1"]],
  ["values with names", { enum: ["a", "b"], enumNames: ["A"] }, ["A", "b"]],
  ["titled values", { oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, ["A", "b"]],
  ["titled values of several", { anyOf: [{ const: "a", title: "A" }, { type: "string" }] }, ["A"]],
])("a field has choices where it lists %s", (_, schema, labels) => {
  expect(choicesOf(schema)?.map(({ label }) => label)).toEqual(labels);
});

test.each([{ type: "string" }, { anyOf: [{ type: "integer" }, { type: "string" }] }, { oneOf: [] }, { oneOf: "a" }])(
  "a field has none where it lists no values (%j)",
  (schema) => {
    expect(choicesOf(schema)).toBeUndefined();
  },
);
