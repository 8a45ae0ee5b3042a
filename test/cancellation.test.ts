import { getMaxListeners } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { Cancellation } from "../src/cancellation.ts";

/** Adds so many listeners; gives the numbers of those that were told, in that order. */
function listening(cancellation: Cancellation, count: number): { told: number[]; off: (() => void)[] } {
  const told: number[] = [];
  const off = Array.from({ length: count }, (_, at) => cancellation.onCancel(() => told.push(at)));
  return { told, off };
}

describe("a cancellation", () => {
  test("tells each of its listeners at once, and once", () => {
    const cancellation = new Cancellation();
    const { told } = listening(cancellation, 3);
    expect([cancellation.cancelled, told]).toEqual([false, []]);
    cancellation.cancel();
    expect([cancellation.cancelled, told]).toEqual([true, [0, 1, 2]]);
    cancellation.cancel();
    expect(told).toEqual([0, 1, 2]);
  });

  test.each([0, 1, 2])("does not tell listener %i of three that was taken off", (at) => {
    const cancellation = new Cancellation();
    const { told, off } = listening(cancellation, 3);
    off[at]?.();
    cancellation.cancel();
    expect(told).toEqual([0, 1, 2].filter((other) => other !== at));
  });

  test("has a signal that takes any number of listeners without a warning", () => {
    expect(getMaxListeners(new Cancellation().signal)).toBe(Number.POSITIVE_INFINITY);
  });

  test("tells at once whoever comes later", () => {
    const cancellation = new Cancellation();
    cancellation.cancel();
    expect(listening(cancellation, 2).told).toEqual([0, 1]);
  });

  test("has a signal that says the same, whenever it is asked for", () => {
    const [before, after] = [new Cancellation(), new Cancellation()];
    const { signal } = before;
    expect([signal.aborted, before.signal === signal]).toEqual([false, true]);
    for (const each of [before, after]) each.cancel();
    expect([signal.aborted, after.signal.aborted]).toEqual([true, true]);
  });
});
