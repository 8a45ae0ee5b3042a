import { describe, expect, test } from "@jest/globals";
import { Deadlines } from "../../src/deadlines.ts";
import { Pending, type RequestOptions } from "../../src/session/pending.ts";
import { PendingTable } from "../../src/session/pending-table.ts";

const FIRST = 10;
const owner = { deadlines: new Deadlines(), graceMs: 1000, giveUp: () => undefined };

function add(table: PendingTable, options: RequestOptions = {}): Pending {
  const pending = new Pending(
    owner,
    table.newId(),
    "tools/call",
    options,
    () => undefined,
    () => undefined,
  );
  table.add(pending);
  return pending;
}

describe("the requests on the wire", () => {
  test("have ids of their own, from the first that is free for them, and none is used again", () => {
    const table = new PendingTable(FIRST);
    const ids = new Set<number>();
    const open: Pending[] = [];
    for (let at = 0; at < 5000; at++) {
      const pending = add(table);
      expect(ids.has(pending.id)).toBe(false);
      ids.add(pending.id);
      open.push(pending);
      // Most are answered soon, a few stay for long.
      if (at % 100 !== 0) table.delete(pending);
    }
    expect(Math.min(...ids)).toBe(FIRST);
    expect(table.size).toBe(50);
    expect(open.filter((pending) => table.find(pending.id) === pending)).toHaveLength(50);
  });

  test("are all found by their ids, however many there are", () => {
    const table = new PendingTable(FIRST);
    const open = Array.from({ length: 3000 }, () => add(table));
    expect(table.size).toBe(3000);
    for (const pending of open) {
      expect(table.find(pending.id)).toBe(pending);
      expect(table.find(String(pending.id))).toBe(pending);
    }
  });

  test("one that stays for ever does not make the ids run away", () => {
    const table = new PendingTable(FIRST);
    const lasting = add(table);
    let latest = lasting.id;
    for (let at = 0; at < 100_000; at++) {
      const pending = add(table);
      latest = pending.id;
      table.delete(pending);
    }
    expect(table.find(lasting.id)).toBe(lasting);
    expect(latest).toBeLessThan(FIRST + 110_000);
  });

  test("are not found by other spellings of their ids, nor by the ids of others", () => {
    const table = new PendingTable(FIRST);
    const { id } = add(table);
    const others = [`0${id}`, `${id}.0`, ` ${id}`, "", "x", id + 0.5, id + 64, -id, Number.NaN, null, undefined];
    for (const other of others) expect(table.find(other)).toBeUndefined();
  });

  test("leave once", () => {
    const table = new PendingTable(FIRST);
    const pending = add(table);
    expect(table.delete(pending)).toBe(true);
    expect(table.delete(pending)).toBe(false);
    expect(table.size).toBe(0);
  });

  test("are counted by whether they may have side effects", () => {
    const table = new PendingTable(FIRST);
    const call = add(table, { effects: true });
    add(table);
    expect(table.calls).toBe(1);
    table.delete(call);
    expect(table.calls).toBe(0);
  });

  test("are all taken at once, oldest first", () => {
    const table = new PendingTable(FIRST);
    // So many that the newest of those that stay have come round to the first slots.
    for (let at = 0; at < 400; at++) table.delete(add(table));
    const open = Array.from({ length: 200 }, () => add(table, { effects: true }));
    expect(table.takeAll()).toEqual(open);
    expect(table.size).toBe(0);
    expect(table.calls).toBe(0);
    expect(open.every((pending) => table.find(pending.id) === undefined)).toBe(true);
  });
});
