import { describe, expect, test } from "@jest/globals";
import { factOf, harnesses, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();

describe("framing on stdio", () => {
  test("text, blank lines and JSON that is no message are skipped before and between answers [A01]", async () => {
    const host = make().serve("noisy", "framing", "noise");
    expect(textOf(await host.call("noisy", "echo", { text: "one" }))).toBe("one");
    expect(textOf(await host.call("noisy", "echo", { text: "two" }))).toBe("two");
    expect(host.received("noisy", "initialize")).toHaveLength(1);
  });

  test("NUL bytes, terminal escapes and invalid UTF-8 do no harm, and invalid bytes become U+FFFD [A01]", async () => {
    const host = make().serve("binary", "framing", "binary-noise");
    expect(textOf(await host.call("binary", "echo"))).toBe("\ufffd( pair");
  });

  test("an answer behind a text without a line end is found, and a question that a log quotes is not answered", async () => {
    const host = make().serve("late", "framing", "same-line");
    expect(textOf(await host.call("late", "echo", { text: "one" }))).toBe("one");
    expect(textOf(await host.call("late", "echo", { text: "two" }))).toBe("two");
    expect(host.received("late", "initialize")).toHaveLength(1);
    expect(host.ledger("late").map(({ event }) => event)).not.toContain("response");
  });

  test("terminal modes that are set without a line end hide no message behind them [A01]", async () => {
    const host = make().serve("modes", "framing", "terminal-modes");
    expect(textOf(await host.call("modes", "echo", { text: "seen" }))).toBe("seen");
  });

  test("skipped lines are told with a later failure, without their terminal escapes [A01]", async () => {
    const host = make().serve("crash", "framing", "noise-crash");
    const { code, message, details } = await host.listFailure("crash");
    expect(code).toBe("connect_failed");
    expect(details).toMatchObject({ exitCode: 4, skippedLines: ["Cannot find module 'x'", "second line"] });
    expect(message).toContain("Cannot find module 'x'");
    expect(JSON.stringify({ message, details })).not.toMatch(/\\u001b|\\u0007/);
  });

  test("lines may end in CRLF [A04]", async () => {
    const host = make().serve("crlf", "framing", "crlf");
    expect(textOf(await host.call("crlf", "echo", { text: "windows" }))).toBe("windows");
  });

  test("a byte order mark at the start of the stream is left out [A04]", async () => {
    const host = make().serve("bom", "framing", "bom");
    expect(textOf(await host.call("bom", "echo", { text: "marked" }))).toBe("marked");
  });

  test("messages that arrive byte by byte are put together, characters included", async () => {
    const host = make().serve("bytes", "framing", "bytes");
    expect(textOf(await host.call("bytes", "echo"))).toBe("grüße 🎉");
  });

  test("many messages in one write are told apart", async () => {
    const host = make().serve("packed", "framing", "packed");
    const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`);
    const results = await Promise.all(texts.map((text) => host.call("packed", "echo", { text })));
    expect(results.map(textOf)).toEqual(texts);
  });

  test("an answer of 12 MiB in writes of 1 KiB arrives whole [A08]", async () => {
    const host = make().serve("large", "framing", "large");
    const bytes = 12 * 1024 * 1024;
    const result = await host.call("large", "echo", { bytes });
    const { content } = factOf<{ content: { text: string }[] }>(result, "mcpResult");
    expect(content[0]?.text).toHaveLength(bytes);
  }, 30_000);

  test("output without a line end fails promptly at 16 MiB with bounded memory, and the next call starts afresh [A10]", async () => {
    const host = make().serve("endless", "framing", "endless");
    await host.call("endless", "calm");
    const before = process.memoryUsage().rss;
    const { code, message, details } = await host.callFailure("endless", "flood", { mebibytes: 64 });
    expect(code).toBe("limit_exceeded");
    expect(message).toContain("16 MiB");
    expect(message).toMatch(/outcome unknown/i);
    expect(details).toMatchObject({ server: "endless", limitBytes: 16 * 1024 * 1024, outcomeUnknown: true });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    expect(host.ledger("endless").some(({ event }) => event === "flooded")).toBe(false);
    expect(textOf(await host.call("endless", "calm"))).toBe("calm");
    await waitFor("a second process", () => host.pids("endless").length === 2);
    expect(
      host.received("endless", "tools/call").filter(({ message }) => message?.params?.["name"] === "flood"),
    ).toHaveLength(1);
  }, 30_000);
});
