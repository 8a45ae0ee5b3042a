import { describe, expect, test } from "@jest/globals";
import { harnesses, jsonOf, textOf } from "../support/plugin-harness.ts";

const make = harnesses();

describe("limits that an embedder sets hold for", () => {
  test("the bytes of a schema that a result is checked against", async () => {
    const host = make({ limits: { schemaBytes: 10 } }).serve("results", "results");
    const result = await host.call("results", "bad-structure");
    expect(result.details?.["outputSchemaProblem"]).toBe("it has more than 10 bytes");
    expect(textOf(result)).not.toContain("Warning");
  });

  test("the levels of a message", async () => {
    const host = make({ limits: { nestedLevels: 5 } }).serve("results", "results");
    expect(jsonOf(await host.list("results", { tool: "bad-structure" }))).toMatchObject({
      tools: [{ name: "bad-structure", outputSchema: { type: "object", properties: "[nested too deeply]" } }],
    });
  });

  test("the characters of a name, in a list as in a call", async () => {
    const host = make({ limits: { nameCharacters: 5 } }).serve("results", "results");
    const { tools, leftOut } = jsonOf(await host.list("results")) as Record<"tools" | "leftOut", { name: string }[]>;
    expect(tools.map(({ name }) => name).filter((name) => name.length > 5)).toEqual([]);
    const [{ name: long } = { name: "" }] = leftOut;
    expect(leftOut).toContainEqual({ name: long, reason: `its name has ${long.length} characters` });
    expect((await host.callFailure("results", long)).message).toContain("at most 5 characters");
  });
});
