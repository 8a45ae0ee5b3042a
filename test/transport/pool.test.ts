import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { Pool } from "../../src/transport/pool.ts";

/** A pool of no connections, one of which is told to become free. */
async function ending(): Promise<{ readonly pool: Pool; readonly ends: () => void }> {
  const pool = await Pool.open(new URL("http://127.0.0.1:1/"), 1000);
  const response = new EventEmitter();
  pool.ending(response as IncomingMessage);
  return { pool, ends: () => void response.emit("close") };
}

describe("a connection that is about to become free", () => {
  test("wakes who waits for it, and nobody waits for it afterwards", async () => {
    const { pool, ends } = await ending();
    expect(pool.isAboutToFree).toBe(true);
    const waiting = pool.untilFree(60_000);
    expect(pool.isAboutToFree).toBe(false);
    ends();
    await waiting;
    expect(pool.isAboutToFree).toBe(false);
  });

  test("wakes who waits for it also where somebody has waited in vain before", async () => {
    const { pool, ends } = await ending();
    await pool.untilFree(1);
    expect(pool.isAboutToFree).toBe(true);
    const waiting = pool.untilFree(60_000);
    ends();
    await waiting;
  });

  test("is waited for in vain three times in a row, and again where it was once not in vain", async () => {
    const { pool, ends } = await ending();
    for (let times = 0; times < 3; times++) {
      expect(pool.isAboutToFree).toBe(true);
      await pool.untilFree(1);
    }
    expect(pool.isAboutToFree).toBe(false);
    const waiting = pool.untilFree(60_000);
    ends();
    await waiting;
    pool.ending(new EventEmitter() as IncomingMessage);
    expect(pool.isAboutToFree).toBe(true);
  });
});
