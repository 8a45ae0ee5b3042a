import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { AgentToolResult } from "../../src/contract.ts";
import { factOf, harnesses, jsonOf, type PluginHarness, textOf } from "../support/plugin-harness.ts";

const make = harnesses();

function results(entry: Record<string, unknown> = {}): PluginHarness {
  return make().serve("results", "results", "", entry);
}

/** The MCP result that a tool gave, as our result keeps it. */
function mcpResult(result: AgentToolResult): unknown {
  return result.details?.["mcpResult"];
}

/** The private file that a note names. */
function fileIn(text: string): string {
  return /is in (\S+) until/.exec(text)?.[1] ?? "";
}

describe("what a model sees of a result", () => {
  test("long base64 in structured content is shown by its size, and kept in the details", async () => {
    const result = await results().call("results", "structured-image");
    expect(jsonOf(result)).toEqual({ content: [{ type: "image", data: "[4000 characters of base64]" }], blob: "a1b2" });
    expect(JSON.stringify(result.details)).toContain("A".repeat(4000));
  });

  test("half a character is shown as one that cannot be: no JSON holds it, and a provider refuses every request with it", async () => {
    const result = await results().call("results", "half-characters");
    expect(textOf(result)).toBe("a\ufffd b🎉\n\ufffd\n[resource link: c\ufffd, file:///b]");
    expect(JSON.stringify(mcpResult(result))).toContain("a\\ud83d b🎉");
    const { message } = await results().callFailure("results", "refuses", { note: "no\ud83d" });
    expect(message).toBe("no\ufffd");
  });

  test("a resource whose fields stand in its block is shown by its text", async () => {
    expect(textOf(await results().call("results", "flat-resource"))).toBe("flat");
  });

  test("structured content alone is shown as JSON text, and the result is kept untouched [F01]", async () => {
    const host = results();
    const result = await host.call("results", "structured");
    expect(result.content).toEqual([{ type: "text", text: '{"temperature":36,"unit":"C"}' }]);
    expect(result.details).toMatchObject({
      server: "results",
      tool: "structured",
      mcpResult: { structuredContent: { temperature: 36, unit: "C" } },
    });
    expect(textOf(await host.call("results", "structured-array"))).toBe("[1,2]");
  });

  test("structured content that a text block holds already is not shown twice; other texts do not hide it", async () => {
    const host = results();
    expect((await host.call("results", "structured-and-same-text")).content).toEqual([
      { type: "text", text: '{ "b": 2, "a": 1 }' },
    ]);
    expect((await host.call("results", "structured-and-other-text")).content).toEqual([
      { type: "text", text: "a is 1" },
      { type: "text", text: '{"a":1}' },
    ]);
    expect((await host.call("results", "structured-and-other-json")).content).toEqual([
      { type: "text", text: '{"a":2}' },
      { type: "text", text: '{"a":1}' },
    ]);
    for (const indent of [0, 2])
      expect((await host.call("results", "structured-and-heading", { indent })).content).toHaveLength(1);
    expect((await host.call("results", "structured-and-heading", { indent: 3 })).content).toHaveLength(2);
  });

  test("an error result is a tool_error with the server's text, never validated, and keeps the connection [F03]", async () => {
    const host = results();
    const { code, message, details } = await host.callFailure("results", "quota");
    expect(code).toBe("tool_error");
    expect(message).toContain("quota exceeded");
    expect(message).not.toContain("outputSchema");
    expect(details).toMatchObject({
      server: "results",
      tool: "quota",
      mcpResult: { isError: true, structuredContent: { wrong: true } },
    });
    await host.call("results", "structured");
    expect(host.pids("results")).toHaveLength(1);
  });

  test("a result that breaks its outputSchema is shown with a warning, one that keeps to it without", async () => {
    const host = results();
    expect(textOf(await host.call("results", "structured"))).toBe('{"temperature":36,"unit":"C"}');
    const result = await host.call("results", "bad-structure");
    expect(textOf(result)).toContain("has text");
    expect(textOf(result)).toContain('{"wrong":true}');
    expect(textOf(result)).toMatch(/Warning: .*outputSchema: structuredContent must/);
  });

  test("all blocks come in order: texts and images as they are, the others in words without base64 [F05]", async () => {
    const { content } = await results().call("results", "blocks");
    expect(content.map(({ type }) => type)).toEqual(["text", "image", "text", "text", "text", "text", "text"]);
    const texts = content.map((block) =>
      block.type === "text" ? block.text : `${block.mimeType} ${block.data.length}`,
    );
    expect(texts[0]).toBe("first");
    expect(texts[1]).toMatch(/^image\/png \d+$/);
    expect(texts[2]).toMatch(/audio.*audio\/wav.*4 bytes/);
    expect(texts[3]).toMatch(/\breport\b.*What was found.*file:\/\/\/report\.md/);
    expect(texts[4]).toBe("embedded in full");
    expect(texts[5]).toMatch(/binary resource.*file:\/\/\/data\.bin.*application\/octet-stream.*4 bytes/);
    expect(texts[6]).toBe("last");
    expect(texts.join()).not.toMatch(/UklGRg|AAECAw/);
  });

  test("unknown blocks become short labelled JSON and never a failure [F05]", async () => {
    const result = await results().call("results", "blocks-unknown");
    const text = textOf(result);
    for (const part of ["json", '"a":1', "no type", "null", "bare", "good"]) expect(text).toContain(part);
    expect(result.content).toHaveLength(6);
  });

  test("an image over the limit becomes a note with type and size, and its caption stays [F06]", async () => {
    const { content } = await results().call("results", "huge-image");
    expect(content).toHaveLength(2);
    expect(content[0]).toEqual({ type: "text", text: "caption" });
    expect(content[1]).toMatchObject({ type: "text", text: expect.stringMatching(/image\/png.*4718592 bytes/) });
  });

  test("an image whose data is a data URL, or has line ends, is an image", async () => {
    const { content } = await results().call("results", "odd-image");
    expect(content).toEqual(Array(2).fill({ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }));
  });

  test("images without usable data or type become notes with what is known of their type and size", async () => {
    const { content } = await results().call("results", "bad-image");
    expect(content.map((block) => block.type === "text" && block.text)).toEqual([
      "[image left out: image/png, 11 characters that are not base64]",
      "[image without usable data: image/png, 0 bytes]",
      expect.stringMatching(/^\[image without usable data: unknown type, \d+ bytes\]$/),
    ]);
  });

  test.each(["empty", "nothing", "no-object", "content-string"])(
    "an odd or empty result is shown honestly (%s)",
    async (tool) => {
      const result = await results().call("results", tool);
      expect(textOf(result)).not.toBe("");
      if (tool === "no-object") expect(textOf(result)).toContain("just a string");
      if (tool === "content-string") expect(textOf(result)).toContain("a string");
      expect(mcpResult(result)).toBeDefined();
    },
  );

  test("content that is null, as servers in Go send an empty one, is empty", async () => {
    const { content } = await results().call("results", "content-null");
    expect(content).toEqual([{ type: "text", text: '{"a":1}' }]);
  });

  test.each([
    ["content-string", "a string"],
    ["content-block", "a block"],
    ["content-object", JSON.stringify({ records: "r".repeat(5000) })],
    ["text-object", JSON.stringify({ records: "r".repeat(5000) })],
    ["returned", JSON.stringify({ count: 1, results: "r".repeat(5000) })],
    ["returned-beside-nothing", '{"count":1}'],
    ["tool-result", JSON.stringify([{ title: "t".repeat(5000) }])],
    ["tool-result-content", "within"],
  ])(
    "what a tool returned is shown whole where its server puts it elsewhere than in blocks (%s)",
    async (tool, text) => {
      const { content } = await results().call("results", tool);
      expect(content).toEqual([{ type: "text", text }]);
    },
  );

  test("structured content that is null is none, unless it is all there is", async () => {
    const host = results();
    expect((await host.call("results", "structured-null")).content).toEqual([{ type: "text", text: "all there is" }]);
    expect((await host.call("results", "structured-null-alone")).content).toEqual([{ type: "text", text: "null" }]);
  });

  test("a null result is shown honestly", async () => {
    const result = await results().call("results", "null-result");
    expect(textOf(result)).toContain("null");
    expect(mcpResult(result)).toBeNull();
  });

  test("an error without text says so", async () => {
    const { code, message } = await results().callFailure("results", "error-without-text");
    expect(code).toBe("tool_error");
    expect(message).toMatch(/error without any text/);
    for (const note of ["", " \n"])
      expect((await results().callFailure("results", "refuses", { note })).message).toMatch(/error without any text/);
  });

  test("a JSON-RPC error is rpc_error with its code, and long data is cut", async () => {
    const { code, message, details } = await results().callFailure("results", "rpc-error");
    expect(code).toBe("rpc_error");
    expect(message).toContain("it is broken");
    expect(message).toContain("-32055");
    expect(details).toMatchObject({
      server: "results",
      method: "tools/call",
      rpcError: { code: -32055, message: "it is broken" },
    });
    expect(JSON.stringify(details).length).toBeLessThan(6000);
  });

  test.each([
    ["Missing required arguments: path", "Internal error (Missing required arguments: path)"],
    [{ expected: "a date" }, 'Internal error ({"expected":"a date"})'],
    [{ message: "boom", stack: "Error: boom\n    at handle (/srv/a.js:1:1)" }, 'Internal error ({"message":"boom"})'],
    [{ stack: "Error: Internal error\n    at handle (/srv/a.js:1:1)" }, "Internal error"],
    ["Internal error", "Internal error"],
    ["", "Internal error"],
    [{}, "Internal error"],
    [null, "Internal error"],
  ])("the reason of a JSON-RPC error may stand in its data (%j)", async (quota, words) => {
    const { message, details } = await results().callFailure("results", "reason-in-data", { quota });
    expect(message).toBe(`Server "results" answered tools/call with error -32603: ${words}`);
    expect(details).toMatchObject({ rpcError: { message: "Internal error", data: quota } });
  });

  test("a code that the server repeats in its message is shown once", async () => {
    const { message, details } = await results().callFailure("results", "sdk-error");
    expect(message).toContain("error -32602: Tool x not found");
    expect(details).toMatchObject({ rpcError: { message: "MCP error -32602: Tool x not found" } });
  });
});

describe("the bound of a result's text", () => {
  test("a long text keeps its head and tail around a note, and the whole is in a private file until the session ends [L06]", async () => {
    const host = results();
    const result = await host.call("results", "long-text");
    const text = textOf(result);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50 * 1024);
    expect(text.startsWith("HEAD ä🎉")).toBe(true);
    expect(text.endsWith(" TAIL")).toBe(true);
    expect(text).not.toContain("\ufffd");
    const whole = 6 * 512 * 1024 + 10;
    const { content } = mcpResult(result) as { content: { text: string }[] };
    expect(Buffer.byteLength(content[0]?.text ?? "")).toBe(whole);
    expect(text).toContain(`of ${whole} bytes`);
    const path = fileIn(text);
    expect(statSync(path).size).toBe(whole);
    expect(readFileSync(path, "utf8").endsWith("🎉 TAIL")).toBe(true);
    if (process.platform !== "win32") {
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    }
    await host.shutdown();
    expect(existsSync(dirname(path))).toBe(false);
  });

  test("many texts are bounded together, with one note and one file", async () => {
    const host = results();
    const { content } = await host.call("results", "many-texts");
    const texts = content.map((block) => (block.type === "text" ? block.text : ""));
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThanOrEqual(50 * 1024);
    expect(texts[0]).toMatch(/^block 0 /);
    expect(texts.at(-1)).toMatch(/block 899 x+$/);
    const notes = texts.join("\n").match(/until the session ends/g);
    expect(notes).toHaveLength(1);
    const whole = readFileSync(fileIn(texts.join("\n")), "utf8");
    expect(whole).toContain("block 500 ");
  });

  test("the entry's maxResultBytes counts, and holds for error texts too", async () => {
    const host = results({ maxResultBytes: 2000 });
    const failure = await host.callFailure("results", "error-long");
    const { message } = failure;
    expect(Buffer.byteLength(message)).toBeLessThan(2300);
    expect(message).toContain("begin e");
    expect(message).toContain("e end");
    expect(readFileSync(fileIn(message), "utf8")).toHaveLength(200_010);
    expect(factOf<{ content: { text: string }[] }>(failure, "mcpResult").content[0]?.text).toHaveLength(200_010);
  });

  test.each([
    ["an answer", "message", "mcp_call", { tool: "echo" }],
    ["its stderr", "stderr", "mcp_list", {}],
    ["its stderr", "stderr", "mcp_request", { method: "x/y" }],
  ] as const)("and for the words of a server in any other error: %s (%s, %s)", async (_, place, tool, params) => {
    const says = `begin ${"e".repeat(1900)} end`;
    const host = make().serve("it", "quotes", place, { env: { SAYS: says }, maxResultBytes: 1200 });
    const { message, details } = await host.failure(tool, { configPath: host.configPath, server: "it", ...params });
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1200);
    expect(message).toMatch(/^Server "it" .*begin e/s);
    expect(message).toContain("e end");
    expect(readFileSync(fileIn(message), "utf8")).toContain(says);
    expect(JSON.stringify(details)).toContain(says);
  });
});
