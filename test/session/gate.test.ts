import { describe, expect, it } from "@jest/globals";
import { Gate } from "../../src/session/gate.ts";

describe("a gate", () => {
  it("lets no more works run at once than it should, in order, and drops what exceeds the queue", async () => {
    const gate = new Gate(2, 3);
    const ends: (() => void)[] = [];
    const began: number[] = [];
    for (let at = 0; at < 8; at++) {
      gate.admit(async () => {
        began.push(at);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    }
    expect(began).toEqual([0, 1]);
    for (let at = 0; at < 5; at++) {
      ends[at]?.();
      await new Promise(setImmediate);
    }
    expect(began).toEqual([0, 1, 2, 3, 4]);
    gate.admit(async () => void began.push(99));
    expect(began).toContain(99);
  });
});
