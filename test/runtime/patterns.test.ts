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

  test("that are names are not looked through for each tool", () => {
    let read = 0;
    const names = new Proxy(
      Array.from({ length: 100 }, (_, at) => `t${at}`),
      {
        get: (list, key, self) => {
          if (typeof key === "string" && /^\d/.test(key)) read++;
          return Reflect.get(list, key, self);
        },
      },
    );
    for (let at = 0; at < 1000; at++) expect(matchesAny(names, `t${at}`)).toBe(at < 100);
    expect(read).toBeLessThanOrEqual(2 * names.length);
  });

  test("take linear time", () => {
    const begin = performance.now();
    matchesAny(["*a*a*a*a*a*a*a*a*a*a*b"], "a".repeat(200_000));
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});
