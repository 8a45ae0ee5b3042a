import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { Spill } from "../../src/runtime/spill.ts";

describe("the private files of a session", () => {
  test("hold whole texts, each in its own file that others cannot read", async () => {
    const spill = new Spill();
    const text = "ä🎉".repeat(1_500_000);
    const [one, two] = await Promise.all([spill.write(text, "txt"), spill.write("{}", "json")]);
    expect(readFileSync(one, "utf8") === text).toBe(true);
    expect(readFileSync(two, "utf8")).toBe("{}");
    expect(dirname(one)).toBe(dirname(two));
    if (process.platform !== "win32")
      expect([statSync(one).mode & 0o777, statSync(dirname(one)).mode & 0o777]).toEqual([0o600, 0o700]);
    await spill.clear();
    expect(existsSync(dirname(one))).toBe(false);
  });

  test("hold a text that ends in half a character too", async () => {
    const spill = new Spill();
    expect(readFileSync(await spill.write("x\ud83c", "txt"), "utf8")).toBe("x\ufffd");
    await spill.clear();
  });

  test("are gone after the end of the session, also those that were being written, and none is made afterwards", async () => {
    const spill = new Spill();
    const listeners = process.listenerCount("exit");
    const writing = Array.from({ length: 5 }, () => spill.write("x".repeat(3_000_000), "txt"));
    await spill.clear();
    const ends = await Promise.allSettled(writing);
    for (const end of ends) if (end.status === "fulfilled") expect(existsSync(end.value)).toBe(false);
    await expect(spill.write("late", "txt")).rejects.toMatchObject({ code: "closed" });
    await spill.clear();
    expect(process.listenerCount("exit")).toBe(listeners);
  });

  test("that were never needed leave nothing behind", async () => {
    const before = readdirSync(process.env["TMPDIR"] ?? "/tmp").length;
    const listeners = process.listenerCount("exit");
    const spill = new Spill();
    await setTimeout(50);
    expect(process.listenerCount("exit")).toBe(listeners);
    await spill.clear();
    expect(readdirSync(process.env["TMPDIR"] ?? "/tmp").length).toBeLessThanOrEqual(before + 5);
  });
});
