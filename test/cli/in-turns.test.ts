import { expect, test } from "@jest/globals";
import { inTurns } from "../../src/cli/in-turns.ts";

test("so many are worked on at the same time and no more, and each result stands in its item's place", async () => {
  let working = 0;
  let most = 0;
  const results = await inTurns([3, 1, 2, 5, 4], 2, async (item) => {
    most = Math.max(most, ++working);
    for (let turn = 0; turn < item; turn++) await Promise.resolve();
    working--;
    return item * 10;
  });
  expect(results).toEqual([30, 10, 20, 50, 40]);
  expect(most).toBe(2);
  expect(await inTurns([], 2, () => Promise.reject(new Error("nothing to do")))).toEqual([]);
  await expect(inTurns([1, 2], 2, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});
