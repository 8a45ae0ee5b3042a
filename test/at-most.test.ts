import { expect, test } from "@jest/globals";
import { atMost } from "../src/at-most.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

function later<T>(milliseconds: number, settle: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    setTimeout(() => {
      try {
        resolve(settle());
      } catch (error) {
        reject(error);
      }
    }, milliseconds).unref();
  });
}

function fails(): never {
  throw new TypeError("broken");
}

test("work that ends in time gives its result, and no timer is left", async () => {
  const before = timers();
  expect(
    await atMost(
      later(5, () => "done"),
      60_000,
      "late",
    ),
  ).toBe("done");
  expect(await atMost(Promise.resolve(false), 60_000, undefined)).toBe(false);
  expect(timers()).toBe(before);
});

test("work that takes longer gives what was to be given then, and goes on", async () => {
  let ended = false;
  const work = later(40, () => {
    ended = true;
  });
  expect(await atMost(work, 5, "late")).toBe("late");
  expect(ended).toBe(false);
  await work;
  expect(ended).toBe(true);
});

test("a failure in time is thrown, and no timer is left", async () => {
  const before = timers();
  await expect(atMost(later(5, fails), 60_000, "late")).rejects.toThrow("broken");
  expect(timers()).toBe(before);
});

test("a failure that comes too late is no unheard one", async () => {
  const unheard: unknown[] = [];
  const listener = (error: unknown): void => void unheard.push(error);
  process.on("unhandledRejection", listener);
  try {
    const work = later(20, fails);
    expect(await atMost(work, 1, "late")).toBe("late");
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(unheard).toEqual([]);
  } finally {
    process.off("unhandledRejection", listener);
  }
});
