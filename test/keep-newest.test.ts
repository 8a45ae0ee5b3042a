import { expect, test } from "@jest/globals";
import { keepNewest } from "../src/keep-newest.ts";

test("what was written last is kept, and the oldest entries beyond the bound are dropped", () => {
  const map = new Map<string, number>();
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
    ["c", 4],
  ] as const)
    keepNewest(map, key, value, 2);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
  keepNewest(map, "d", 5, 1);
  expect([...map]).toEqual([["d", 5]]);
});
