import { describe, expect, test } from "@jest/globals";
import { Redactor } from "../../src/redactor.ts";
import { readable } from "../../src/remote-text.ts";
import { StderrTail } from "../../src/transport/stderr-tail.ts";

const redactor = new Redactor();
redactor.add(["sekret-abcdef"]);

function tail(limitBytes: number, ...chunks: readonly (string | Buffer)[]): string {
  const kept = new StderrTail(limitBytes, redactor);
  for (const chunk of chunks) kept.push(Buffer.from(chunk));
  return kept.text();
}

describe("the tail of stderr", () => {
  test("is everything while it fits, without blanks at its end", () => {
    expect(tail(100, "one\n", "two\n\n")).toBe("one\ntwo");
    expect(tail(100)).toBe("");
  });

  test.each([1, 3, 7, 50, 1000])("holds the newest bytes, however they came (%d at a time)", (size) => {
    const all = Buffer.from("0123456789".repeat(100));
    const chunks: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) chunks.push(all.subarray(at, at + size));
    expect(tail(25, ...chunks)).toBe("5678901234567890123456789");
  });

  test("is cut at a character border", () => {
    for (let limit = 20; limit < 30; limit++) {
      const text = tail(limit, "🎉".repeat(100));
      expect(text).toBe("🎉".repeat(Math.floor(limit / 4)));
    }
  });

  test("has nothing left of a secret whose beginning was dropped, and of no other text less", () => {
    expect(tail(14, "a sekret-abcdef b")).toBe("[redacted] b");
    expect(tail(14, "xxx ret-abcdef bc")).toBe(" ret-abcdef bc");
    expect(tail(18, "t-abcdef and so on")).toBe("t-abcdef and so on");
  });

  test("keeps no more memory than its limit asks for", () => {
    const kept = new StderrTail(1000, new Redactor());
    const before = process.memoryUsage().arrayBuffers;
    for (let chunk = 0; chunk < 1000; chunk++) kept.push(Buffer.alloc(100_000, 0x61));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60_000_000);
    expect(kept.text()).toHaveLength(1000);
  });
});

describe("readable text", () => {
  test.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["a\u0000b\u0007c\u0008d\u007fe\u009bf", "abcdef"],
    ["line\r\nline\ttab", "line\nline\ttab"],
    ["overwritten\rby this", "overwrittenby this"],
    ["unfinished \u001b[", "unfinished ["],
  ])("has nothing in it that a terminal would interpret: %j", (text, expected) => {
    expect(readable(text)).toBe(expected);
  });

  test("takes linear time whatever it is", () => {
    const begin = performance.now();
    readable("\u001b]".repeat(100_000));
    readable(`\u001b[${"0;".repeat(200_000)}`);
    expect(performance.now() - begin).toBeLessThan(3000);
  });
});
