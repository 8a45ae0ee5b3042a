import { describe, expect, it } from "@jest/globals";
import type { ContentBlock } from "../../src/contract.ts";
import { LIMITS } from "../../src/limits.ts";
import { handshakeDialect } from "../../src/protocol/handshake.ts";
import { Spill } from "../../src/runtime/spill.ts";
import type { ServerSpec } from "../../src/server-spec.ts";
import { makeCatalog } from "../../src/session/catalog.ts";
import { progressReport } from "../../src/session/pending.ts";
import { fitsGuard, guardContent, guardText } from "../../src/tools/guard.ts";
import { listAnswer } from "../../src/tools/list-answer.ts";
import { renderResult } from "../../src/tools/render.ts";
import { rank } from "../../src/tools/search.ts";
import { brief, signature } from "../../src/tools/signature.ts";
import type { ToolContext } from "../../src/tools/tool.ts";

const IMAGE = { type: "image" as const, data: "QUJD", mimeType: "image/png" };

/** Work that grows with the square of its input takes minutes at these sizes, and the suite's own deadline ends it. */
describe("what a server sends is shown in bounded time and length", () => {
  it("when a tool has 60,000 parameters, all of them required", () => {
    const names = Array.from({ length: 60_000 }, (_, at) => `parameter_${at}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const text = signature({ name: "t", inputSchema: { type: "object", properties, required: names } });
    expect(text).toMatch(/^parameter_0: string, /);
    expect(text.length).toBeLessThan(1100);
  });

  it("when parameter names and choices are a megabyte long", () => {
    const properties = { ["p".repeat(1_000_000)]: { enum: ["c".repeat(1_000_000)] } };
    expect(JSON.stringify(brief("t", { name: "t", inputSchema: { properties } })).length).toBeLessThan(1000);
  });

  it("when 300 descriptions are nothing but capitals", () => {
    const tools = Array.from({ length: 300 }, (_, at) => ({ item: { name: `t${at}`, description: "A".repeat(4000) } }));
    expect(rank("echo", tools)).toEqual([]);
  });

  it("when 16,384 tools have as many words in every field as are ever searched", () => {
    const words = (from: number): string => Array.from({ length: 400 }, (_, at) => `w${(from + at) % 9973}`).join(" ");
    const parameter = { description: words(0) };
    const properties = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`parameter_${at}`, parameter]));
    const tools = Array.from({ length: 16_384 }, (_, at) => {
      return {
        item: {
          name: `t${at}`,
          title: at === 9 ? `report ${words(at)}` : words(at),
          description: words(at),
          inputSchema: { properties },
        },
      };
    });
    expect(rank("report", tools).map(({ item }) => item.name)).toEqual(["t9"]);
  });

  it("when a name is longer than any call could name: it is left out, with its reason", () => {
    const page = { tools: [{ name: "n".repeat(1_000_000) }, { name: "n".repeat(LIMITS.nameCharacters) }] };
    const dialect = handshakeDialect(
      "2025-11-25",
      { capabilities: {} },
      { info: { name: "t", version: "1" }, capabilities: {} },
    );
    const { items, leftOut } = makeCatalog("tools", [page], { dialect, transport: "stdio", limits: LIMITS });
    expect([...items.keys()]).toEqual(["n".repeat(LIMITS.nameCharacters)]);
    expect(leftOut).toEqual([{ name: expect.stringMatching(/^n{100}…$/), reason: "its name has 1000000 characters" }]);
  });

  it("when a progress message has megabytes", () => {
    const report = progressReport({ progress: 1, message: "m".repeat(14_000_000) });
    expect(report?.message).toHaveLength(1001);
    expect(progressReport({ progress: 1, message: "half \ud83d" })?.message).toBe("half \ufffd");
  });

  it("when a block of an unknown type is long: its JSON is cut, never within a character", () => {
    for (const before of ["", "x"]) {
      const [block] = renderResult({ content: [{ type: "odd", value: before + "🎉".repeat(3000) }] }, LIMITS);
      const text = block?.type === "text" ? block.text : "";
      expect(text.slice(-20)).toMatch(/… \(60\d\d characters\)\]$/);
      expect(text.search(/\p{Surrogate}/u)).toBe(-1);
    }
  });

  it("when a result has 200,000 blocks", () => {
    const content = Array.from({ length: 200_000 }, () => ({ type: "text", text: "" }));
    const blocks = renderResult({ content }, LIMITS);
    expect(blocks).toHaveLength(1001);
    expect(blocks.at(-1)).toEqual({ type: "text", text: "[199000 more blocks left out]" });
  });

  it("when 1,000 blocks of JSON stand beside structured content of 300,000 members", () => {
    const content = Array.from({ length: 1000 }, () => ({ type: "text", text: '{"all":{}}' }));
    const all = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`m${at}`, 1]));
    const blocks = renderResult({ content, structuredContent: { all } }, LIMITS);
    expect(blocks).toHaveLength(1001);
    expect(blocks.at(-1)).toEqual({ type: "text", text: JSON.stringify({ all }) });
  });

  it("when a text beside structured content is JSON that nests without end", () => {
    const text = "[".repeat(100_000) + "]".repeat(100_000);
    const content = [{ type: "text", text }];
    expect(renderResult({ content, structuredContent: { n: 1 } }, LIMITS)).toEqual([
      ...content,
      { type: "text", text: '{"n":1}' },
    ]);
  });
});

it("many short texts certainly fit only with the line ends between them", () => {
  const content = Array.from({ length: 30 }, () => ({ type: "text" as const, text: "€" }));
  const spill = new Spill();
  expect(fitsGuard(content, { maxBytes: 90, spill })).toBe(false);
  expect(fitsGuard(content, { maxBytes: 120, spill })).toBe(true);
});

/** Of all its texts, read one after the other. */
function bytesOf(content: readonly ContentBlock[]): number {
  const texts = content.filter((block) => block.type === "text").map(({ text }) => text);
  return Buffer.byteLength(texts.join("\n"));
}

it("a result is cut only where it has more bytes than its bound, not where it might have", async () => {
  const text = "€".repeat(300);
  const content = [{ type: "text" as const, text }, IMAGE, { type: "text" as const, text: "x" }];
  const [spill, note] = [new Spill(), "bytes left out"];
  try {
    expect(await guardText(text, { maxBytes: 900, spill })).toBe(text);
    expect(await guardText(text, { maxBytes: 899, spill })).toContain(note);
    expect(await guardContent(content, { maxBytes: 902, spill })).toEqual(content);
    expect(JSON.stringify(await guardContent(content, { maxBytes: 901, spill }))).toContain(note);
  } finally {
    await spill.clear();
  }
});

/** What its note tells. */
function leftOut(text: string): number {
  return Number(/\[… (\d+) of \d+ bytes left out/.exec(text)?.[1]);
}

describe("what is too long, and can be kept in no file", () => {
  const closed = async (): Promise<Spill> => {
    const spill = new Spill();
    await spill.clear();
    return spill;
  };

  it("is still shown by its head and tail", async () => {
    const text = await guardText(`HEAD${"x".repeat(5000)}TAIL`, { maxBytes: 1000, spill: await closed() });
    expect(text).toMatch(/^HEADx+\n\[… \d+ of 5008 bytes left out; it could not be kept in a file …\]\nx+TAIL$/);
    expect(leftOut(text) + text.split("x").length - 1).toBe(5000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
  });

  it("has a head and a tail within a small bound, too", async () => {
    const text = await guardText(`HEAD${"x".repeat(5000)}TAIL`, { maxBytes: 150, spill: await closed() });
    expect(text).toMatch(/^HEADx+\n\[… \d+ of 5008 bytes left out; .* …\]\nx+TAIL$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(150);
  });

  it("is only a note where the bound leaves no room for more", async () => {
    const note = expect.stringMatching(/^\[… 5000 of 5000 bytes left out; .* …\]$/);
    const options = { maxBytes: 100, spill: await closed() };
    expect(await guardText("x".repeat(5000), options)).toEqual(note);
    const halves = Array.from({ length: 2 }, () => ({ type: "text" as const, text: "y".repeat(2500) }));
    const content = await guardContent([...halves, IMAGE], options);
    expect(content).toEqual([{ type: "text", text: expect.stringMatching(/^\[… 5001 of 5001 bytes .* …\]$/) }, IMAGE]);
  });

  it("keeps whole texts of its beginning and its end, and what is no text in its place", async () => {
    const texts = ["first", "x".repeat(5000), "last"];
    const content = [IMAGE, ...texts.flatMap((text) => [{ type: "text" as const, text }, IMAGE])];
    const shown = await guardContent(content, { maxBytes: 1000, spill: await closed() });
    const long = expect.stringMatching(/^x{300,}\n\[… \d+ of 5011 bytes .* …\]\nx{100,}$/);
    expect(shown).toEqual([IMAGE, ...["first", long, "last"].flatMap((text) => [{ type: "text", text }, IMAGE])]);
    const [cut = ""] = shown.flatMap((block) =>
      block.type === "text" && block.text.includes("x") ? [block.text] : [],
    );
    expect(leftOut(cut) + cut.split("x").length - 1).toBe(5000);
    expect(bytesOf(shown)).toBeLessThanOrEqual(1000);
  });

  it.each(["", "a", "ä", "abc"])("is cut too where it is very many texts (%j)", async (text) => {
    const content = Array.from({ length: 1000 }, () => ({ type: "text" as const, text }));
    const spill = await closed();
    for (let maxBytes = 890; maxBytes < 900; maxBytes++) {
      const shown = await guardContent(content, { maxBytes, spill });
      const note = expect.stringContaining(`of ${bytesOf(content)} bytes left out`);
      expect(shown).toContainEqual({ type: "text", text: note });
      expect(bytesOf(shown)).toBeLessThanOrEqual(maxBytes);
      expect(bytesOf(shown)).toBeGreaterThan(maxBytes - 10);
    }
  });

  it("is still listed in brief", async () => {
    const { content } = await listAnswer({
      head: { server: "s", serverInfo: {}, protocolVersion: "2025-11-25" },
      items: new Map([["t", { name: "t", description: `One. ${"x".repeat(100_000)}` }]]),
      catalog: { kind: "tools", items: new Map(), pages: [], duplicates: [], leftOut: [] },
      spec: {} as ServerSpec,
      context: { runtime: { limits: LIMITS, spill: await closed() } } as unknown as ToolContext,
      single: true,
    });
    expect(JSON.parse(content[0]?.type === "text" ? content[0].text : "")).toMatchObject({
      tools: [{ name: "t", summary: "One." }],
      hint: expect.stringContaining("could not be kept in a file"),
    });
  });
});

describe("what a server sends where a text belongs", () => {
  const hostile = { toString: 1, valueOf: 1 };

  it("does not lose the rest of the result", () => {
    const content = [
      { type: "resource", resource: { uri: hostile } },
      { type: "resource_link", uri: hostile, name: hostile },
      { type: "audio", mimeType: hostile, data: hostile },
      { type: "text", text: "kept" },
    ];
    expect(renderResult({ content }, LIMITS).at(-1)).toEqual({ type: "text", text: "kept" });
  });

  it("does not spoil a search among prompts", () => {
    const prompts = [
      { item: { name: "bad", arguments: [{ name: hostile }] } },
      { item: { name: "good", arguments: [{ name: "city" }] } },
    ];
    expect(rank("city", prompts).map(({ item }) => item.name)).toEqual(["good"]);
    expect(signature({ name: "bad", arguments: [{ name: hostile }] })).toBe("unnamed?: string");
  });
});
