import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { Reader, snippetsOf } from "./support/snippets.ts";

/** What each start must lead to: the server has answered. */
const PROMISED: Readonly<Record<string, RegExp>> = {
  pi: /^Echo: hello$/m,
  rpi: /^Echo: hello$/m,
  host: /^Echo: hello$/m,
  terminal: /^Echo: hello$/m,
};

const { run, files } = snippetsOf("README.md");
let reader: Reader;

beforeEach(() => {
  reader = new Reader();
  for (const { name, text } of files) reader.write(name, text);
});

afterEach(() => reader.remove());

describe("the README", () => {
  it("has a start for each audience, and the config that they share", () => {
    expect(run.map(({ name }) => name).sort()).toEqual(Object.keys(PROMISED).sort());
    expect(files.map(({ name }) => name)).toEqual(["~/.config/mcp/mcp.json"]);
  });

  const onPosix = process.platform === "win32" ? it.skip : it;

  onPosix.each(run)("keeps its word to the audience of $name", async (snippet) => {
    if (snippet.language !== "sh") reader.install();
    const { status, stdout, stderr } = await reader.run(snippet);
    expect([status, stdout]).toEqual([0, expect.stringMatching(PROMISED[snippet.name] ?? /$^/)]);
    expect(stderr).not.toMatch(/warning|error/i);
  });
});
