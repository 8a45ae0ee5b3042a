import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import { encodeHeaderValue, headerProblem, mirrorHeaders } from "../../src/protocol/headers.ts";

function call(args: unknown, inputSchema?: unknown): Record<string, string> {
  return mirrorHeaders(
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "tool", arguments: args } },
    inputSchema,
  );
}

function annotated(properties: Record<string, unknown>): object {
  return { type: "object", properties };
}

describe("a header value", () => {
  test.each(["", "plain", "a b", "with,commas;and=more", "tab\tinside", "=?base64?", "~!@#$%^&*()"])(
    "stands as it is: %j",
    (value) => {
      expect(encodeHeaderValue(value)).toBe(value);
    },
  );

  test.each([
    "grüße",
    "🎉",
    "line\nbreak",
    "\r",
    "\0",
    " leading",
    "trailing ",
    "\t",
    "=?base64?YQ==?=",
    "=?base64?=",
    "\u007f",
  ])("is encoded: %j", (value) => {
    const encoded = encodeHeaderValue(value);
    expect(encoded).toMatch(/^=\?base64\?[A-Za-z0-9+/]+={0,2}\?=$/);
    expect(Buffer.from(encoded.slice(9, -2), "base64").toString("utf8")).toBe(value);
  });
});

describe("the headers of a message", () => {
  test("name the method, and what it is about", () => {
    const headers = (method: string, params: Record<string, unknown>): Record<string, string> =>
      mirrorHeaders({ jsonrpc: "2.0", id: 1, method, params });
    expect(headers("tools/list", {})).toEqual({ "Mcp-Method": "tools/list" });
    expect(headers("tools/call", { name: "t" })).toEqual({ "Mcp-Method": "tools/call", "Mcp-Name": "t" });
    expect(headers("prompts/get", { name: "p" })).toEqual({ "Mcp-Method": "prompts/get", "Mcp-Name": "p" });
    expect(headers("resources/read", { uri: "file:///ä" })).toEqual({
      "Mcp-Method": "resources/read",
      "Mcp-Name": encodeHeaderValue("file:///ä"),
    });
    expect(mirrorHeaders({ jsonrpc: "2.0", id: 1, result: {} })).toEqual({});
  });

  test("mirror the annotated arguments that are given, nested ones too", () => {
    const schema = annotated({
      region: { type: "string", "x-mcp-header": "Region" },
      count: { type: "integer", "x-mcp-header": "Count" },
      dry: { type: "boolean", "x-mcp-header": "Dry" },
      deep: { type: "object", properties: { inner: { type: "string", "x-mcp-header": "Inner" } } },
      free: { type: "string" },
    });
    expect(headerProblem(schema)).toBeUndefined();
    expect(call({ region: "eu", count: 3, dry: false, deep: { inner: "x" }, free: "no" }, schema)).toEqual({
      "Mcp-Method": "tools/call",
      "Mcp-Name": "tool",
      "Mcp-Param-Region": "eu",
      "Mcp-Param-Count": "3",
      "Mcp-Param-Dry": "false",
      "Mcp-Param-Inner": "x",
    });
    expect(call({ region: null, count: 1.5, deep: "flat" }, schema)).toEqual({
      "Mcp-Method": "tools/call",
      "Mcp-Name": "tool",
    });
    expect(call(undefined, schema)).toEqual({ "Mcp-Method": "tools/call", "Mcp-Name": "tool" });
  });
});

test("annotations count at any depth that a message may have", () => {
  const nest = (inner: object): object => {
    let schema = annotated({ a: inner });
    for (let level = 0; level < 100; level++) schema = annotated({ a: schema });
    return schema;
  };
  expect(headerProblem(nest({ type: "number", "x-mcp-header": "A" }))).toEqual(expect.any(String));
  let args: unknown = { a: "deep" };
  for (let level = 0; level < 100; level++) args = { a: args };
  expect(call(args, nest({ type: "string", "x-mcp-header": "A" }))).toMatchObject({ "Mcp-Param-A": "deep" });
});

test("many annotations that lie deep cost no more memory than others", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const names = Array.from({ length: 50_000 }, (_, at) => [`p${at}`, { type: "string", "x-mcp-header": `H${at}` }]);
  let schema = annotated(Object.fromEntries(names));
  for (let level = 0; level < 120; level++) schema = annotated({ a: schema });
  const before = heap();
  expect(headerProblem(schema)).toBeUndefined();
  expect(heap() - before).toBeLessThan(20_000_000);
  expect(schema).toBeDefined(); // What is remembered of it lasts as long as it does.
});

describe("an annotation that no single argument can follow makes its tool unusable", () => {
  test.each([
    ["is no name", annotated({ a: { type: "string", "x-mcp-header": 5 } })],
    ["is empty", annotated({ a: { type: "string", "x-mcp-header": "" } })],
    ["is not a valid header name", annotated({ a: { type: "string", "x-mcp-header": "a b" } })],
    ["would end the header", annotated({ a: { type: "string", "x-mcp-header": "A\r\nB" } })],
    [
      "is used twice, in whatever case",
      annotated({ a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }),
    ],
    ["is on a number", annotated({ a: { type: "number", "x-mcp-header": "A" } })],
    ["is on an object", annotated({ a: { type: "object", "x-mcp-header": "A" } })],
    ["is on the root", { type: "object", "x-mcp-header": "A" }],
    [
      "is in the items of an array",
      annotated({ a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }),
    ],
    ["is in a branch", { anyOf: [annotated({ a: { type: "string", "x-mcp-header": "A" } })] }],
  ])("as it %s", (_, schema) => {
    expect(headerProblem(schema)).toEqual(expect.any(String));
  });

  test("which is told in reasonable length, however long its name and its place are", () => {
    const long = "x".repeat(100_000);
    for (const schema of [
      annotated({ a: { type: "number", "x-mcp-header": long } }),
      annotated({ [long]: { "x-mcp-header": "A" } }),
    ])
      expect(headerProblem(schema)?.length).toBeLessThan(400);
  });

  test.each([
    [undefined],
    [null],
    ["text"],
    [{}],
    [annotated({ a: { type: "string", default: { "x-mcp-header": "A" } } })],
    [annotated({ "x-mcp-header": { type: "string" } })],
  ])("but nothing is wrong with %j", (schema) => {
    expect(headerProblem(schema)).toBeUndefined();
  });
});
