import { PassThrough } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { listText } from "../../src/cli/list-text.ts";
import { Terminal } from "../../src/cli/terminal.ts";

const streams = { input: new PassThrough(), out: new PassThrough(), err: new PassThrough() };
const terminal = new Terminal(() => undefined, streams);
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");
const details = (instructions: string): Record<string, unknown> => ({
  ...{ server: "shop", protocolVersion: "2025-11-25", instructions },
  ...{ tools: [{ name: "buy", inputSchema: {} }], prompts: [{ name: "greet" }] },
});

describe("the instructions of a server", () => {
  it("stand above its tools, with an empty line between", () => {
    const [, ...rest] = listText(details(lines(2)), {}, terminal).split("\n");
    expect(rest).toEqual(["  line 1", "  line 2", "", "  buy()"]);
  });

  it("are cut after five lines", () => {
    const [, ...rest] = listText(details(lines(6)), {}, terminal).split("\n");
    expect(rest.slice(4)).toEqual(["  line 5", "  ...", "", "  buy()"]);
  });

  it("are no matter of anything but tools", () => {
    expect(listText(details("Be brief."), { kind: "prompts" }, terminal)).not.toContain("brief");
  });
});
