import { describe, expect, test } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import { isFailure, isRequest, isResponse, type JsonRpcMessage, parseMessages } from "../../src/protocol/jsonrpc.ts";

function parse(value: unknown, batchElements = 10): readonly JsonRpcMessage[] | undefined {
  return parseMessages(typeof value === "string" ? value : JSON.stringify(value), { ...LIMITS, batchElements });
}

describe("reading messages", () => {
  test.each([
    "",
    " ",
    "text",
    "{",
    "{}",
    "[]",
    "[[]]",
    "[1,{}]",
    '"ready"',
    "123",
    "null",
    "true",
    '{"level":30,"msg":"x"}',
    '{"id":7}',
    '{"id":7,"time":1}',
  ])("%j holds none", (text) => {
    expect(parse(text)).toBeUndefined();
  });

  test.each([
    [{ method: "a" }],
    [{ jsonrpc: "2.0", method: "a", params: [] }],
    [{ jsonrpc: "2.0", method: "", params: null }],
    [{ jsonrpc: "2.0", id: 1, method: "a", params: {} }],
    [{ jsonrpc: "2.0", id: "x", method: "a" }],
  ])("%j is one as it stands", (message) => {
    expect(parse(message)).toEqual([message]);
  });

  test("what has a method and a null as its id is a notification", () => {
    const message = { jsonrpc: "2.0", method: "a", params: {} };
    expect(parse({ ...message, id: null, result: null, error: null })).toEqual([
      { ...message, result: null, error: null },
    ]);
    expect(parse({ ...message, id: null })?.some(isRequest)).toBe(false);
  });

  test.each([
    [
      { jsonrpc: "2.0", id: 1, result: {} },
      { id: 1, result: {} },
    ],
    [
      { id: "1", result: null },
      { id: "1", result: null },
    ],
    [
      { jsonrpc: "2.0", id: 1, result: 0, error: null },
      { id: 1, result: 0 },
    ],
    [
      { jsonrpc: "2.0", id: 1 },
      { id: 1, result: undefined },
    ],
    [
      { jsonrpc: "2.0", id: 1, method: null, params: null, result: 0, error: null },
      { id: 1, result: 0 },
    ],
  ])("%j is an answer", (message, expected) => {
    expect(parse(message)).toEqual([{ jsonrpc: "2.0", ...expected }]);
  });

  test.each([
    [
      { id: 1, error: { code: -1, message: "m", data: [1] } },
      { id: 1, error: { code: -1, message: "m", data: [1] } },
    ],
    [
      { id: 1, error: { code: "x", message: { a: 1 } } },
      { id: 1, error: { code: -32603, message: '{"a":1}' } },
    ],
    [
      { id: 1, error: {} },
      { id: 1, error: { code: -32603, message: '"no message"' } },
    ],
    [
      { id: 1, error: "text" },
      { id: 1, error: { code: -32603, message: "text" } },
    ],
    [
      { id: 1, error: false },
      { id: 1, error: { code: -32603, message: "false" } },
    ],
    [
      { jsonrpc: "2.0", id: null, error: { code: -32700, message: "m" } },
      { id: null, error: { code: -32700, message: "m" } },
    ],
    [
      { jsonrpc: "2.0", error: { code: -32700, message: "m" } },
      { id: null, error: { code: -32700, message: "m" } },
    ],
  ])("%j is a failure, made regular", (message, expected) => {
    expect(parse(message)).toEqual([{ jsonrpc: "2.0", ...expected }]);
  });

  test.each([
    [{ id: [1], method: "a" }],
    [{ method: 5, id: 1, result: {} }],
    [{ id: {}, result: 1 }],
    [{ error: { message: "a log entry" } }],
  ])("%j is none of these, and is left out", (value) => {
    expect(parse(value)).toBeUndefined();
  });

  test("of a batch gives what is a message, up to the bound", () => {
    const message = { jsonrpc: "2.0", method: "a" };
    expect(parse([message, 1, {}, message])).toEqual([message, message]);
    expect(
      parse(
        Array.from({ length: 50 }, () => message),
        10,
      ),
    ).toHaveLength(10);
  });

  test("of 256 levels is as it stands, and what is nested more deeply is cut off, of objects and of lists", () => {
    const nested = (levels: number, open: string, close: string): string =>
      `{"method":"a","params":${open.repeat(levels)}1${close.repeat(levels)}}`;
    for (const [open, close] of [
      ['{"a":', "}"],
      ["[", "]"],
    ] as const) {
      const whole = nested(255, open, close);
      expect(JSON.stringify(parse(whole))).toBe(`[${whole}]`);
      const cut = nested(255, open, close).replace(/1(?=[}\]])/, '"[nested too deeply]"');
      expect(JSON.stringify(parse(nested(256, open, close)))).toBe(`[${cut}]`);
      expect(JSON.stringify(parse(nested(5000, open, close)))).toBe(`[${cut}]`);
    }
  });

  test("shape decides before ids do: something with a method is never an answer", () => {
    const [question] = parseMessages('{"jsonrpc":"2.0","id":5,"method":"ping","result":{}}', LIMITS) ?? [];
    expect(question !== undefined && isResponse(question)).toBe(false);
    expect(question !== undefined && isRequest(question)).toBe(true);
    const [answer] = parseMessages('{"id":5,"error":{"code":1,"message":"m"}}', LIMITS) ?? [];
    expect(answer !== undefined && isResponse(answer) && isFailure(answer)).toBe(true);
  });
});
