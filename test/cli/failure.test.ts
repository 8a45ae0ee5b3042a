import { describe, expect, it } from "@jest/globals";
import { advice, failureOf, sentence } from "../../src/cli/failure.ts";
import { AdapterError } from "../../src/errors.ts";
import { StepError } from "../../src/plugin/drive.ts";

const server = "shop";

describe("the sentence about a failure at a terminal", () => {
  it.each([
    new AdapterError("params.invalid", { tool: "mcp_call", path: "tool", reason: "must be a text" }),
    new AdapterError("tool.unknown", { server, kind: "tools", tool: "x", near: [], count: 1 }),
    new AdapterError("server.unknown", { server, configured: [], problems: ["p"] }),
    new AdapterError("server.unknown", { server, configured: [server], problems: Array<string>(9).fill("p") }),
    new AdapterError("config.missing", { configPath: "/a/mcp.json" }),
    new AdapterError("method.refused", { method: "initialize", reason: "it opens the session" }),
    new AdapterError("limit.connections", { limit: 1, open: [server] }),
  ])("has no words for an agent host: $situation", (error) => {
    expect(error.message).toMatch(/mcp_(list|call|request)|configPath/);
    expect(sentence(error)).not.toMatch(/mcp_(list|call|request)|configPath/);
  });

  it("says of a server that was not started whose file wants it, and leaves what to do to the advice", () => {
    const untrusted = { server, configPath: "/me/mcp.json", reason: "untrusted" } as const;
    const own = sentence(new AdapterError("denied.start", untrusted));
    expect(own).toMatch(/project's own file \(\/me\/mcp\.json\) and nobody approved it, so it was not started\.$/);
    expect(advice(new AdapterError("denied.start", untrusted))).toMatch(/--trust.*--config/);
    const error = new AdapterError("denied.start", { ...untrusted, enabledBy: "/p/.mcp.json" });
    expect(advice(error)).not.toContain("--config");
    const enabled = sentence(error);
    expect(enabled).toMatch(/is disabled in your own files; a project's own file \(\/p\/\.mcp\.json\) enables it/);
    expect(enabled).not.toMatch(/trust|\/me\//);
  });

  it("is that of the host otherwise", () => {
    const told = new AdapterError("params.invalid", { tool: "mcp_call", path: "tool", reason: "must be a text" });
    expect(sentence(told)).toBe("tool must be a text.");
    const missing = new AdapterError("config.missing", { configPath: "/a/mcp.json" });
    expect(sentence(missing)).toMatch(/^There is no config file .*, or name another with --config\.$/);
    const other = new AdapterError("host.tool", { tool: "x", tools: [] });
    expect(sentence(other)).toBe(other.message);
  });
});

describe("the advice about a failure", () => {
  const unknown = new AdapterError("tool.unknown", { server, kind: "tools", tool: "x", near: [], count: 1 });

  it.each([
    [{}, "rpi-mcp list shop shows its tools."],
    [{ config: "a.json" }, "rpi-mcp list shop --config a.json shows its tools."],
    [{ url: "http://a.example/mcp" }, "rpi-mcp list --url URL shows its tools."],
    [{ program: ["npx"] }, "rpi-mcp list -- PROGRAM shows its tools."],
  ])("is a command that can be typed: %j", (options, tools) => {
    expect(advice(unknown, options)).toBe(tools);
  });

  it("of a server that one file does not have names that file, and no other", () => {
    const error = new AdapterError("server.unknown", { server, configured: [] });
    expect(advice(error, { config: "a.json" })).toBe("rpi-mcp list --config a.json shows the servers in it.");
    expect(advice(error)).toMatch(/^rpi-mcp list shows the configured servers; /);
  });

  it.each([
    new AdapterError("cli.signIn", { server, reason: "it is a program" }),
    new AdapterError("method.refused", { method: "initialize", reason: "it is done" }),
  ])("is no pointer to a help that says nothing of it: $situation", (error) => {
    expect(advice(error)).toBeUndefined();
    expect(advice(new AdapterError("cli.usage", { reason: "what is that" }))).toContain("--help");
  });

  it("says what the tool takes where the server refused the arguments", () => {
    const facts = { server, tool: "x", text: "no", mcpResult: { content: [], isError: true } };
    expect(advice(new AdapterError("tool.failed", { ...facts, takes: "a: string" }))).toBe("It takes: a: string");
    expect(advice(new AdapterError("tool.failed", facts))).toBeUndefined();
  });

  it("says how to sign in where the tool's result asks for that", () => {
    const facts = { server, tool: "x", text: "no", mcpResult: {}, signIn: "Run `rpi-mcp login shop`." };
    expect(advice(new AdapterError("tool.failed", facts))).toBe("It wants a sign-in. Run `rpi-mcp login shop`.");
  });
});

it("tells of the option for an address that was taken for a server's name", () => {
  const error = new AdapterError("server.unknown", { server: "https://a.example/mcp", configured: [] });
  expect(sentence(error)).toMatch(/nor is any other\. An address belongs after --url\.$/);
});

describe("what was thrown", () => {
  it("is told by its code, message and details, and by nothing else", () => {
    const told = { code: "closed", message: "It went away.", details: { server } };
    expect(failureOf(new StepError("closed", "It went away.", { server }))).toEqual(told);
    expect(failureOf(new AdapterError("cli.file", { path: "/a", reason: "full" }))).toMatchObject({ code: "internal" });
    expect(failureOf(Object.assign(new Error("x"), { code: "ENOENT" }))).toMatchObject({ code: "internal" });
  });
});
