import { expect, test } from "@jest/globals";
import { Mutex } from "../src/mutex.ts";

test("work runs one at a time, in the order of the calls, and a failure reaches its own caller only", async () => {
  const mutex = new Mutex();
  const seen: string[] = [];
  const release: (() => void)[] = [];
  const first = mutex.run(async () => {
    seen.push("first begins");
    await new Promise<void>((resolve) => release.push(resolve));
    seen.push("first fails");
    throw new Error("first");
  });
  const second = mutex.run(async () => {
    seen.push("second");
    return 2;
  });
  await Promise.resolve();
  expect(seen).toEqual(["first begins"]);
  release[0]?.();
  await expect(first).rejects.toThrow("first");
  await expect(second).resolves.toBe(2);
  expect(seen).toEqual(["first begins", "first fails", "second"]);
});
