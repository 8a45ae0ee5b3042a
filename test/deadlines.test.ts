import { stat } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Deadline, Deadlines } from "../src/deadlines.ts";
import { busy, waitFor } from "./support/wait.ts";

let deadlines: Deadlines;

beforeEach(() => {
  deadlines = new Deadlines();
});

afterEach(() => deadlines.stop());

/** An entry that tells when it is due. */
function entry(onDue: () => void): Deadline {
  return { place: -1, dueAt: 0, onDue };
}

describe("deadlines", () => {
  test("are told once, and not before their time", async () => {
    const told: string[] = [];
    const begin = performance.now();
    let late = 0;
    const second = entry(() => {
      late = performance.now() - begin;
      told.push("second");
    });
    deadlines.set(second, 40);
    deadlines.set(
      entry(() => told.push("first")),
      5,
    );
    await waitFor("both are told", () => told.length === 2);
    expect(told).toEqual(["first", "second"]);
    expect(late).toBeGreaterThanOrEqual(40);
  });

  test("leave what came in time, while the process was busy or stopped, to be read before they are told", async () => {
    const told: string[] = [];
    const answered = entry(() => told.push("answered"));
    const silent = entry(() => told.push("silent"));
    setImmediate(() => {
      deadlines.set(answered, 20);
      deadlines.set(silent, 20);
      stat(".", () => deadlines.clear(answered));
      busy(200);
    });
    await waitFor("the other is told", () => told.length > 0);
    expect(told).toEqual(["silent"]);
  });

  test("that are cleared, or moved, are not told at their old time", async () => {
    const told: string[] = [];
    const cleared = entry(() => told.push("cleared"));
    const moved = entry(() => told.push("moved"));
    deadlines.set(cleared, 5);
    deadlines.set(moved, 5);
    deadlines.clear(cleared);
    deadlines.set(moved, 60_000);
    let over = false;
    deadlines.set(
      entry(() => {
        over = true;
      }),
      20,
    );
    await waitFor("their time is over", () => over);
    expect(told).toEqual([]);
  });

  test.each(["clear", "set", "stop"] as const)(
    "a listener may %s another that is due in the same look",
    async (act) => {
      const told: number[] = [];
      const entries: Deadline[] = [0, 1].map((at) =>
        entry(() => {
          told.push(at);
          const other = entries[1 - at] as Deadline;
          if (act === "clear") deadlines.clear(other);
          else if (act === "set") deadlines.set(other, 60_000);
          else deadlines.stop();
        }),
      );
      for (const each of entries) deadlines.set(each, 1);
      await waitFor("one is told", () => told.length > 0);
      expect(told).toHaveLength(1);
    },
  );

  test("may be set anew by the listener itself", async () => {
    let told = 0;
    const again = entry(() => {
      if (++told < 3) deadlines.set(again, 1);
    });
    deadlines.set(again, 1);
    await waitFor("it is told three times", () => told === 3);
  });
});
