import { describe, expect, jest, test } from "@jest/globals";
import { LineSplitter } from "../../src/transport/lines.ts";

interface Split {
  readonly lines: readonly string[];
  readonly overflows: number;
}

/** Pushes the pieces; the lines that came out, with the end of the stream. */
function split(pieces: readonly (string | Buffer)[], limitBytes = 1000): Split {
  const lines: string[] = [];
  let overflows = 0;
  const splitter = new LineSplitter(
    limitBytes,
    (line) => lines.push(line.toString("utf8")),
    () => overflows++,
  );
  for (const piece of pieces) splitter.push(Buffer.from(piece));
  splitter.end();
  return { lines, overflows };
}

describe("lines", () => {
  test("are the same however the bytes are cut", () => {
    const bytes = Buffer.from('\ufeff{"a":"grüße 🎉"}\r\n\n\r\nplain\n{"b":\n"no end"');
    const whole = split([bytes]).lines;
    expect(whole).toEqual(['{"a":"grüße 🎉"}', "plain", '{"b":', '"no end"']);
    for (let size = 1; size < 8; size++) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
      expect(split(pieces).lines).toEqual(whole);
    }
  });

  test("take little more memory than they have bytes, in however many pieces they come", () => {
    const splitter = new LineSplitter(
      10_000_000,
      () => undefined,
      () => undefined,
    );
    const before = process.memoryUsage().heapUsed;
    for (let piece = 0; piece < 2_000_000; piece++) splitter.push(Buffer.from("x"));
    // What a piece takes beside its byte would be hundreds of megabytes.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });

  test("lose a byte order mark at the very start only", () => {
    expect(split(["\ufeffa\n\ufeffb\n"]).lines).toEqual(["a", "\ufeffb"]);
    expect(split(["\ufeff\nb\n"]).lines).toEqual(["b"]);
  });

  test("keep a carriage return that is not at their end", () => {
    expect(split(["a\rb\r\n\r\r\n"]).lines).toEqual(["a\rb", "\r"]);
  });

  test("of exactly the limit pass, and a longer one overflows once, as soon as it is too long", () => {
    expect(split(["x".repeat(10), "\n"], 10)).toEqual({ lines: ["x".repeat(10)], overflows: 0 });
    expect(split(["a\n", `${"x".repeat(11)}\n`, "b\n"], 10)).toEqual({ lines: ["a"], overflows: 1 });
    let early = 0;
    const splitter = new LineSplitter(
      10,
      () => undefined,
      () => early++,
    );
    splitter.push(Buffer.alloc(6));
    expect(early).toBe(0);
    splitter.push(Buffer.alloc(6));
    expect(early).toBe(1);
    splitter.push(Buffer.alloc(6));
    splitter.end();
    expect(early).toBe(1);
  });

  test("in many small pieces are searched and joined once: twice the bytes, twice the work", () => {
    const [search, join] = [jest.spyOn(Buffer.prototype, "indexOf"), jest.spyOn(Buffer, "concat")];
    try {
      const pieces = 4096;
      const piece = Buffer.alloc(1024, 0x61);
      let length = 0;
      const splitter = new LineSplitter(
        pieces * piece.length,
        (line) => {
          length = line.length;
        },
        () => undefined,
      );
      for (let sent = 0; sent < pieces; sent++) splitter.push(piece);
      splitter.push(Buffer.from("\n"));
      expect(length).toBe(pieces * piece.length);
      const searched = search.mock.contexts.reduce((sum: number, buffer) => sum + (buffer as Buffer).length, 0);
      expect(searched).toBeLessThanOrEqual(pieces * piece.length + 2);
      expect(join).toHaveBeenCalledTimes(1);
    } finally {
      search.mockRestore();
      join.mockRestore();
    }
  });
});
