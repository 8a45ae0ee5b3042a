import { describe, expect, test } from "@jest/globals";
import { EventStreamDecoder, type StreamEvent } from "../../src/transport/sse.ts";

const LIMIT = 16 << 20;

function decode(
  text: string | Buffer,
  size = Number.POSITIVE_INFINITY,
  limit = LIMIT,
): { events: string[]; ids: (string | undefined)[]; retries: number[]; fits: boolean } {
  const events: StreamEvent[] = [];
  const retries: number[] = [];
  const decoder = new EventStreamDecoder(
    limit,
    (event) => events.push(event),
    (milliseconds) => retries.push(milliseconds),
  );
  const bytes = Buffer.from(text);
  let fits = true;
  for (let at = 0; at < bytes.length && fits; at += Math.min(size, bytes.length))
    fits = decoder.push(bytes.subarray(at, at + size));
  if (fits) decoder.end();
  return {
    events: events.map(({ type, data }) => `${type}:${data.toString()}`),
    ids: events.map(({ id }) => id),
    retries,
    fits,
  };
}

describe("events", () => {
  test.each([
    ["LF", "event: a\ndata: 1\n\ndata: 2\n\n"],
    ["CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n"],
    ["CR", "event: a\rdata: 1\r\rdata: 2\r\r"],
    ["a mixture", "event: a\rdata: 1\n\r\ndata: 2\r\n\n"],
    ["a byte order mark", "\ufeffevent: a\ndata: 1\n\ndata: 2\n\n"],
    ["no blank after the colon", "event:a\ndata:1\n\ndata:2\n\n"],
    ["comments and unknown fields", ":hi\nevent: a\nwibble: x\ndata: 1\n\n:\n\ndata: 2\nfoo\n\n"],
    ["no blank line at the end", "event: a\ndata: 1\n\ndata: 2\n"],
    ["no line end at the end", "event: a\ndata: 1\n\ndata: 2"],
  ])("are read with %s, in chunks of any size [H02]", (_, text) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(decode(text, size).events).toEqual(["a:1", ":2"]);
  });

  test("an event that ends with CR is there at once, not with the next chunk", () => {
    const seen: string[] = [];
    const decoder = new EventStreamDecoder(LIMIT, ({ data }) => seen.push(data.toString()));
    decoder.push(Buffer.from("data: now\r\r"));
    expect(seen).toEqual(["now"]);
    decoder.push(Buffer.from("\ndata: then\r\n\r\n"));
    expect(seen).toEqual(["now", "then"]);
  });

  test("lines of data are joined, and characters survive being cut", () => {
    for (const size of [1, 2, 5])
      expect(decode('data: {"ü":\ndata: "😀"}\n\n', size).events).toEqual([':{"ü":\n"😀"}']);
  });

  test("an event that begins in the chunk in which another ends keeps its characters", () => {
    const seen: string[] = [];
    const decoder = new EventStreamDecoder(LIMIT, ({ data }) => seen.push(data.toString()));
    decoder.push(Buffer.from("data: a\n\ndata: ä"));
    decoder.push(Buffer.from("b\n\n"));
    expect(seen).toEqual(["a", "äb"]);
  });

  test("ids and retry times are told; an event may consist of an id alone", () => {
    const { events, ids, retries } = decode("id: 1\nretry: 250\ndata:\n\nid: 2\ndata: x\n\nretry: soon\ndata: y\n\n");
    expect({ events, ids, retries }).toEqual({ events: [":", ":x", ":y"], ids: ["1", "2", undefined], retries: [250] });
  });

  test("plain text comes as text, everything else as the bytes it was", () => {
    const kinds: string[] = [];
    const decoder = new EventStreamDecoder(LIMIT, ({ data }) => kinds.push(typeof data));
    decoder.push(Buffer.from("data: plain\n\ndata: pl"));
    decoder.push(Buffer.from("ain\n\ndata: ünicode\n\n"));
    decoder.push(Buffer.from("data: plain again\n\n"));
    expect(kinds).toEqual(["string", "string", "object", "string"]);
  });
});

describe("bounds", () => {
  test.each([1, 100, 100_000])(
    "an event may have as many bytes as the limit says, and no more (chunks of %d)",
    (size) => {
      const fitting = `data: ${"x".repeat(1000)}\n\n`;
      expect(decode(fitting, size, 1000)).toMatchObject({ events: [`:${"x".repeat(1000)}`], fits: true });
      expect(decode(`data: ${"x".repeat(1001)}\n\n`, size, 1000)).toMatchObject({ events: [], fits: false });
      expect(decode(`data: ${"ü".repeat(501)}\n\n`, size, 1000)).toMatchObject({ events: [], fits: false });
    },
  );

  test.each(["data: ", ": ", "id: ", "data: x\ndata: "])(
    "nothing without an end is collected beyond it: %j",
    (start) => {
      expect(decode(`${start}${"x".repeat(3000)}`, 100, 1000).fits).toBe(false);
      expect(decode(`${"data: y\n".repeat(1000)}`, 100, 1000).fits).toBe(false);
    },
  );

  test.each([
    ["one line of data", (bytes: number) => `data: ${"x".repeat(bytes)}\n\n`],
    ["many lines of data", (bytes: number) => `${"data: 0123456789\n".repeat(bytes / 17)}\n`],
    ["many lines that end with CR", (bytes: number) => `${"data: 0123456789\r".repeat(bytes / 17)}\r`],
    ["many events", (bytes: number) => "data: 0123456789\n\n".repeat(bytes / 18)],
  ])("time is linear in the bytes: %s, 15 MiB in small chunks", (_, make) => {
    const text = Buffer.from(make(15 << 20));
    const before = process.cpuUsage();
    expect(decode(text, 1024).fits).toBe(true);
    // Quadratic behaviour takes minutes here.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10);
  });
});
