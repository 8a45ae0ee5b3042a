import { describe, expect, test } from "@jest/globals";
import { joined, Pieces } from "../../src/transport/joining.ts";

function pieces(text: string, size: number): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0; at < text.length; at += size) cut.push(Buffer.from(text.slice(at, at + size)));
  return cut;
}

function join<T>(text: string, size: number, use: (whole: Buffer) => T): T {
  return joined(pieces(text, size), text.length, use);
}

const MiB = 1024 * 1024;

describe("pieces that are joined", () => {
  test.each([2, 1000, 70_000, 500_000, MiB, MiB + 1, 3 * MiB])("are one text of %d bytes", (bytes) => {
    const text = "0123456789".repeat(Math.ceil(bytes / 10)).slice(0, bytes);
    expect(join(text, Math.ceil(bytes / 7), (whole) => whole.toString())).toBe(text);
  });

  test("take no new memory each time, and one piece alone is not copied", () => {
    const first = join("x".repeat(100_000), 40_000, (whole) => whole);
    const second = join("y".repeat(100_000), 30_000, (whole) => whole);
    expect(second.buffer).toBe(first.buffer);
    expect(join("", 1, (whole) => whole.length)).toBe(0);
    const alone = Buffer.from("alone");
    expect(joined([alone], 5, (whole) => whole)).toBe(alone);
  });

  test("leave those alone that are in use, and can be joined again after a failure", () => {
    const seen = join("outer", 2, (outer) => {
      const inner = join("inner and longer", 3, (whole) => whole.toString());
      return `${outer.toString()}, ${inner}`;
    });
    expect(seen).toBe("outer, inner and longer");
    const failing = (): void =>
      join("fails", 2, () => {
        throw new Error("no");
      });
    expect(failing).toThrow("no");
    const [one, other] = [join("one", 1, (whole) => whole), join("two", 1, (whole) => whole)];
    expect(other.buffer).toBe(one.buffer);
  });
});

describe("pieces that are collected", () => {
  test.each([1, 16_383, 16_384, 16_385, 50_000])("are the same text, whether they are many or few (%d)", (count) => {
    const collected = new Pieces();
    for (let round = 0; round < 2; round++) {
      const numbers = Array.from({ length: count }, (_, at) => `${at},`);
      for (const number of numbers) collected.push(Buffer.from(number));
      const text = numbers.join("");
      expect(collected.bytes).toBe(text.length);
      expect(collected.give((whole) => whole.toString())).toBe(text);
      expect(collected.bytes).toBe(0);
    }
  });
});
