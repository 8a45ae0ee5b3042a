import { describe, expect, test } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import { makeCatalog } from "../../src/session/catalog.ts";

const DIALECT = {
  refuseTool: (schema: unknown) => (schema === "odd" ? "its schema is odd" : undefined),
};

function catalogOf(tools: readonly unknown[]): ReturnType<typeof makeCatalog> {
  return makeCatalog("tools", [{ tools }], { dialect: DIALECT, transport: "http", limits: LIMITS });
}

describe("the notes on a list are few, however long it is", () => {
  const many = Array.from({ length: 1000 }, (_, at) => ({ name: `tool ${at}` }));

  test("of names that came twice the first are named", () => {
    const { items, duplicates } = catalogOf([...many, ...many, ...many]);
    expect(items.size).toBe(1000);
    expect(duplicates).toEqual(many.slice(0, 50).map(({ name }) => name));
  });

  test("a name that came very often is one", () => {
    const { items, duplicates } = catalogOf(Array.from({ length: 100_000 }, () => ({ name: "twin" })));
    expect([items.size, duplicates]).toEqual([1, ["twin"]]);
  });

  test("of what cannot be used the first are named, and what has no name is counted", () => {
    const odd = many.map(({ name }) => ({ name, inputSchema: "odd" }));
    const long = many.map(({ name }) => ({ name: name.repeat(100) }));
    const { items, leftOut } = catalogOf([...odd, ...long, ...many.map(() => ({})), ...many.map(() => 5)]);
    expect(items.size).toBe(0);
    expect(leftOut).toHaveLength(52);
    expect(leftOut.slice(-2).map(({ count }) => count)).toEqual([1000, 1000]);
  });
});
