import { expect, test } from "@jest/globals";
import { promised } from "../src/promised.ts";

test("work that throws before it has a promise is a rejection like any other", async () => {
  const thrown = (reason: string): Promise<never> => {
    throw new Error(reason);
  };
  await expect(promised(thrown, "at once")).rejects.toThrow("at once");
  await expect(promised((reason: string) => Promise.reject(new Error(reason)), "later")).rejects.toThrow("later");
  await expect(promised((value: number) => Promise.resolve(value), 7)).resolves.toBe(7);
});
