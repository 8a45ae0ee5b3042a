import { describe, expect, test } from "@jest/globals";
import { PlainNames } from "../../src/config/names.ts";

describe("names of another format", () => {
  test("that become equal are told apart by the first number that is free, and keep it", () => {
    const names = new PlainNames();
    const written = ["a b", "a-b-2", "a/b", "a.b", "a b"];
    expect(written.map((name) => names.of(name))).toEqual(["a-b", "a-b-2", "a-b-3", "a-b-4", "a-b"]);
  });

  test("take no time to speak of, however many become equal", () => {
    const names = new PlainNames();
    const began = process.cpuUsage();
    const plain = Array.from({ length: 30_000 }, (_, at) => names.of(String.fromCodePoint(0x4e00 + at)));
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
    expect(new Set(plain).size).toBe(plain.length);
  });
});
