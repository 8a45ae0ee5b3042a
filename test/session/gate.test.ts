import { describe, expect, it } from "@jest/globals";
import { Gate } from "../../src/session/gate.ts";

describe("a gate", () => {
  it("lets no more works run at once than it should, in order, and drops what exceeds the queue", async () => {
    const gate = new Gate({ atOnce: 2, waiting: 3, bytes: 100 });
    const ends: (() => void)[] = [];
    const began: number[] = [];
    for (let at = 0; at < 8; at++) {
      gate.admit(async () => {
        began.push(at);
        await new Promise<void>((resolve) => ends.push(resolve));
      }, 1);
    }
    expect(began).toEqual([0, 1]);
    for (let at = 0; at < 5; at++) {
      ends[at]?.();
      await new Promise(setImmediate);
    }
    expect(began).toEqual([0, 1, 2, 3, 4]);
    gate.admit(async () => void began.push(99), 1);
    expect(began).toContain(99);
  });

  it("drops what would make all works together hold too much, but never a work that comes alone", async () => {
    const gate = new Gate({ atOnce: 1, waiting: 10, bytes: 100 });
    const began: number[] = [];
    let end = (): void => undefined;
    const admit = (bytes: number): void =>
      gate.admit(async () => {
        began.push(bytes);
        await new Promise<void>((resolve) => {
          end = resolve;
        });
      }, bytes);
    for (const bytes of [500, 1]) admit(bytes);
    end();
    await new Promise(setImmediate);
    for (const bytes of [60, 41, 40, 2]) admit(bytes);
    for (let ended = 0; ended < 3; ended++) {
      end();
      await new Promise(setImmediate);
    }
    expect(began).toEqual([500, 60, 40]);
    admit(99);
    expect(began.at(-1)).toBe(99);
  });
});
