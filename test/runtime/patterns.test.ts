import { describe, expect, test } from "@jest/globals";
import { matchesAny } from "../../src/runtime/patterns.ts";

describe("patterns of tool names", () => {
  test.each([
    ["read", "read", true],
    ["read", "reader", false],
    ["read*", "read", true],
    ["read*", "read_file", true],
    ["*file", "read_file", true],
    ["*file", "read_files", false],
    ["r*f*e", "read_file", true],
    ["r*x*e", "read_file", false],
    ["*", "", true],
    ["*", "anything", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["**a**", "bab", true],
    ["read.", "readx", false],
    ["[a-z]*", "read", false],
    ["READ", "read", false],
  ])("%j and %j: %p", (pattern, name, expected) => {
    expect(matchesAny([pattern], name)).toBe(expected);
  });

  test("none matches nothing, and one of several is enough", () => {
    expect(matchesAny([], "read")).toBe(false);
    expect(matchesAny(["write", "read"], "read")).toBe(true);
  });

  test("take linear time", () => {
    const begin = performance.now();
    matchesAny(["*a*a*a*a*a*a*a*a*a*a*b"], "a".repeat(200_000));
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});
