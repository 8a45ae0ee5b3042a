import type { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "@jest/globals";
import { openInBrowser } from "../../src/pi/browser.ts";
import { Dialogs } from "../../src/pi/dialogs.ts";
import type { DialogOptions, PiUi } from "../../src/pi/pi-api.ts";
import { servicesFor } from "../../src/pi/services.ts";
import { type PiHost, piHosts, piText } from "../support/pi-host.ts";
import { waitFor } from "../support/wait.ts";

const host = piHosts();
const PATH = process.env["PATH"] ?? "";

afterEach(() => {
  process.env["PATH"] = PATH;
});

interface Shown {
  readonly dialog: string;
  readonly title: string;
  readonly more: unknown;
  readonly options?: DialogOptions | undefined;
}

/** A person who answers every dialog from a list, in order; a function answers late. */
function person(...answers: unknown[]): { ui: PiUi; shown: Shown[] } {
  const shown: Shown[] = [];
  const answer = async (dialog: string, title: string, more: unknown, options?: DialogOptions): Promise<never> => {
    shown.push({ dialog, title, more, options });
    const next = answers.shift();
    return (typeof next === "function" ? await next(more) : next) as never;
  };
  const ui: PiUi = {
    confirm: (title, message, options) => answer("confirm", title, message, options),
    select: (title, choices, options) => answer("select", title, choices, options),
    input: (title, placeholder, options) => answer("input", title, placeholder, options),
    notify: (message, type) => {
      shown.push({ dialog: "notify", title: message, more: type });
    },
  };
  return { ui, shown };
}

/** A project whose server asks nobody before its calls. */
const open = (pi: PiHost): PiHost => pi.configure("~/.pi/agent/mcp.json", { autoApprove: true }).load();
const elicit = async (pi: PiHost, properties: object, required: string[] = []): Promise<Record<string, unknown>> => {
  const requestedSchema = { type: "object", properties, required };
  return JSON.parse(piText(await pi.call("elicit", { message: "Who?", requestedSchema }))) as Record<string, unknown>;
};

/** Puts an opener of the test's own before the system's. */
function opener(pi: PiHost): string {
  const folder = join(pi.root, "bin");
  const log = join(pi.root, "opened");
  mkdirSync(folder);
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s' "$1" > '${log}'\n`);
    chmodSync(join(folder, name), 0o755);
  }
  process.env["PATH"] = `${folder}${delimiter}${PATH}`;
  return log;
}

/** What a person chooses when the answers to a form are shown. */
const SEND = "Send";
const DECLINE = "Decline";

const onPosix = process.platform === "win32" ? it.skip : it;

describe("without a UI", () => {
  it("a project's own servers stay off, and the user's start", async () => {
    const pi = host().configure(".mcp.json").load();
    await pi.emit("session_start", { reason: "startup" });
    const error = await pi.failure("mcp_call", { server: "agent", tool: "echo" });
    expect(error).toMatchObject({ code: "denied" });
    expect(pi.pids()).toEqual([]);
    const own = host().configure("~/.pi/agent/mcp.json").load();
    expect(piText(await own.call("echo", { message: "mine" }))).toBe("Echo: mine");
  });

  it("a session that a person has trusted starts a project's servers; Pi's bare word is not enough", async () => {
    const trusting = { isProjectTrusted: () => true };
    const bare = host().configure(".mcp.json").load();
    bare.context = bare.contextWith(trusting);
    await bare.emit("session_start", { reason: "startup" });
    expect(await bare.failure("mcp_call", { server: "agent", tool: "echo" })).toMatchObject({ code: "denied" });

    const asked = host().configure(".pi/mcp.json").load();
    asked.context = asked.contextWith(trusting);
    await asked.emit("session_start", { reason: "startup" });
    expect(piText(await asked.call("echo", { message: "trusted" }))).toBe("Echo: trusted");

    const declined = host().configure(".pi/mcp.json").load();
    declined.context = declined.contextWith({ isProjectTrusted: () => false });
    await declined.emit("session_start", { reason: "startup" });
    expect(await declined.failure("mcp_call", { server: "agent", tool: "echo" })).toMatchObject({ code: "denied" });
  });

  it("a file that makes Pi ask, written while the session runs, makes nothing trusted", async () => {
    const pi = host().load();
    pi.context = pi.contextWith({ isProjectTrusted: () => true });
    await pi.emit("session_start", { reason: "startup" });
    pi.configure(".pi/mcp.json");
    expect(await pi.failure("mcp_call", { server: "agent", tool: "echo" })).toMatchObject({ code: "denied" });
  });

  it("servers are offered the project's root and nothing that needs a person", async () => {
    const pi = host().configure("~/.pi/agent/mcp.json").load();
    const seen = JSON.parse(piText(await pi.call("where"))) as { client: Record<string, unknown> };
    expect(Object.keys(seen.client)).toEqual(["roots"]);
    const roots = JSON.parse(piText(await pi.call("roots"))) as unknown;
    expect(roots).toEqual({ roots: [{ uri: pathToFileURL(pi.cwd).href, name: basename(pi.cwd) }] });
  });

  it("nor where the host only has some of the dialogs, or says that they do not work", async () => {
    const broken = person().ui;
    const contexts = [
      { hasUI: true, ui: { notify: () => undefined } },
      { hasUI: true, ui: broken, capabilities: new Set(["tools", "ui.notify"]) },
      { hasUI: false, ui: broken },
    ];
    for (const context of contexts) {
      const pi = host().configure("~/.pi/agent/mcp.json").load();
      pi.context = pi.contextWith(context);
      const seen = JSON.parse(piText(await pi.call("where"))) as { client: Record<string, unknown> };
      expect(Object.keys(seen.client)).toEqual(["roots"]);
    }
  });
});

describe("the person", () => {
  it("is asked before a server starts and before a tool is called, and sees what and from where", async () => {
    const { ui, shown } = person(true, "Yes", "Yes");
    const pi = host().configure(".mcp.json").withUi(ui).load();
    expect(piText(await pi.call("echo", { message: "hi" }))).toBe("Echo: hi");
    await pi.call("where");
    expect(shown.map(({ dialog, title }) => [dialog, title])).toEqual([
      ["confirm", 'Start the MCP server "agent"?'],
      ["select", 'Call "echo" of the MCP server "agent"?\n{"message":"hi"}'],
      ["select", 'Call "where" of the MCP server "agent"?\n{}\nThe server says that it only reads.'],
    ]);
    expect(shown[0]?.more).toContain("agent.mjs");
    expect(shown[0]?.more).toContain(join(pi.cwd, ".mcp.json"));
    expect(shown.every(({ options }) => options?.signal instanceof AbortSignal && options.timeout === undefined)).toBe(
      true,
    );
  });

  it("at the terminal allows a tool for the rest of the session, but no other", async () => {
    const always = (choices: readonly string[]): string | undefined => choices[1];
    const { ui, shown } = person(true, always, "No", "Yes", undefined);
    const pi = host().configure(".mcp.json").withUi(ui).load();
    pi.context = { ...pi.context, mode: "tui" };
    // Both wait for the one answer.
    await Promise.all([pi.call("echo", { message: "a" }), pi.call("echo", { message: "b" })]);
    await pi.call("echo", { message: "c" });
    expect(await pi.failure("mcp_call", { server: "agent", tool: "where" })).toMatchObject({ code: "denied" });
    await pi.call("where");
    expect(await pi.failure("mcp_call", { server: "agent", tool: "where" })).toMatchObject({ code: "denied" });
    expect(shown.map(({ dialog, title }) => [dialog, title.split("\n")[0]])).toEqual([
      ["confirm", 'Start the MCP server "agent"?'],
      ["select", 'Call "echo" of the MCP server "agent"?'],
      ["select", 'Call "where" of the MCP server "agent"?'],
      ["select", 'Call "where" of the MCP server "agent"?'],
      ["select", 'Call "where" of the MCP server "agent"?'],
    ]);
    expect(shown[1]?.title).toContain('{"message":"a"}');
    expect(shown[1]?.more).toEqual(["Yes", "Yes, and every later call of this tool in this session", "No"]);
  });

  it("sees what a tool's name hides, and a long one cut", async () => {
    const { ui, shown } = person(true, true);
    const dialogs = new Dialogs();
    dialogs.use({ ...host().withUi(ui).context, mode: "rpc" });
    const { approve } = servicesFor(dialogs);
    const context = { server: "s", signal: new AbortController().signal };
    for (const tool of ["read\u202eetirw", "x".repeat(100_000)]) {
      await approve?.({ server: "s", action: "call", tool }, context);
    }
    expect(shown[0]?.title).toBe('Call "read\\u202eetirw" of the MCP server "s"?');
    expect(shown[1]?.title).toMatch(/^Call "x{100,200}… \(100002 characters in all\) of the MCP server "s"\?$/);
  });

  it("behind a program says yes or no to each call", async () => {
    const { ui, shown } = person(true, true, true);
    const pi = host().configure(".mcp.json").withUi(ui).load();
    pi.context = { ...pi.context, mode: "rpc" };
    await pi.call("echo", { message: "hi" });
    await pi.call("echo", { message: "hi" });
    expect(shown.map(({ dialog, more }) => [dialog, more]).slice(1)).toEqual([
      ["confirm", '{"message":"hi"}'],
      ["confirm", '{"message":"hi"}'],
    ]);
  });

  it("is asked anew about a tool that says other things of itself, and about all of a server that is started anew", async () => {
    const later = (choices: readonly string[]): string | undefined => choices[1];
    const { ui, shown } = person(later, later, true, later, true, true);
    const dialogs = new Dialogs();
    const pi = host().withUi(ui);
    dialogs.use({ ...pi.context, mode: "tui" });
    const { approve } = servicesFor(dialogs);
    const context = { server: "s", signal: new AbortController().signal };
    const call = (annotations: object): unknown =>
      approve?.({ server: "s", action: "call", tool: "t", annotations }, context);
    const questions = (): number => shown.filter(({ dialog }) => dialog === "select").length;
    expect([await call({ readOnlyHint: true }), await call({ readOnlyHint: true })]).toEqual([true, true]);
    expect(questions()).toBe(1);
    expect(await call({ destructiveHint: true })).toBe(true);
    expect(questions()).toBe(2);
    await approve?.({ server: "s", action: "start", command: "x" }, context);
    await call({ readOnlyHint: true });
    expect(questions()).toBe(3);
    // Two entries have had the name by now, and a call does not say which it is for.
    await approve?.({ server: "s", action: "start", command: "y" }, context);
    expect(await call({ readOnlyHint: true })).toBe(true);
    expect(shown.at(-1)?.dialog).toBe("confirm");
  });

  it("is asked about every call of servers of one name: what was allowed of one is not of the other", async () => {
    const { ui, shown } = person(true, true, true, false);
    const pi = host().withUi(ui).load();
    const files = [".mcp.json", ".pi/mcp.json"] as const;
    for (const file of files) pi.configure(file, { env: { LEDGER: pi.ledger, WHICH: file } });
    const [one, two] = files.map((file) => ({ server: "agent", configPath: join(pi.cwd, file) }));
    await pi.run("mcp_list", { ...one });
    await pi.run("mcp_list", { ...two });
    await pi.run("mcp_call", { ...two, tool: "echo", arguments: { message: "a" } });
    expect(await pi.failure("mcp_call", { ...one, tool: "echo" })).toMatchObject({ code: "denied" });
    expect(shown.map(({ dialog }) => dialog)).toEqual(["confirm", "confirm", "confirm", "confirm"]);
  });

  it("says no, and nothing is started or sent", async () => {
    const { ui } = person(false, true, false);
    const pi = host().configure(".mcp.json").withUi(ui).load();
    expect(await pi.failure("mcp_call", { server: "agent", tool: "echo" })).toMatchObject({ code: "denied" });
    expect(pi.pids()).toEqual([]);
    expect(await pi.failure("mcp_call", { server: "agent", tool: "fail" })).toMatchObject({ code: "denied" });
    expect(readFileSync(pi.ledger, "utf8")).not.toContain("tools/call");
  });

  it("reads a long or deceptive command in full length and without invisible characters", async () => {
    const { ui, shown } = person(false);
    const args = ["\u001b[2Kharmless", "a b", "x".repeat(2000)];
    const pi = host().withUi(ui).load();
    pi.write(".mcp.json", { mcpServers: { agent: { command: "run", args } } });
    await pi.failure("mcp_list", { server: "agent" });
    const text = String(shown[0]?.more);
    expect(text.startsWith('run "\\u001b[2Kharmless" "a b" xxx')).toBe(true);
    expect(text).toContain("characters in all");
  });

  it("reads of a call what could not be seen in its arguments, as it may stand in a text that a model has copied", async () => {
    const { ui, shown } = person(true, false);
    const pi = host().configure(".mcp.json").withUi(ui).load();
    const hidden = { message: "hi\u200b\u{e0041}", code: "  a" };
    await pi.failure("mcp_call", { server: "agent", tool: "echo", arguments: hidden });
    expect(shown[1]?.title).toContain(String.raw`{"message":"hi\u200b\udb40\udc41","code":" a"}`);
  });

  it("does not read secrets that the command line gets from variables", async () => {
    const { ui, shown } = person(false);
    const pi = host().withUi(ui).load();
    process.env["AGENT_TOKEN"] = "one-long-secret";
    pi.write(".mcp.json", { mcpServers: { agent: { command: "run", args: ["--token=${AGENT_TOKEN}"] } } });
    await pi.failure("mcp_list", { server: "agent" });
    delete process.env["AGENT_TOKEN"];
    expect(String(shown[0]?.more).split("\n")[0]).toBe('run "--token=[redacted]"');
  });

  const signIn = "https://login.example.test/authorize?state=1";
  const askToSignIn = async (pi: PiHost): Promise<Shown | undefined> => {
    const { ui, shown } = person();
    const dialogs = new Dialogs();
    dialogs.use(pi.withUi(ui).context);
    const context = { server: "tracker", signal: new AbortController().signal };
    await servicesFor(dialogs).openUrl?.(signIn, context);
    return shown[0];
  };

  onPosix("is shown where to sign in, also where no browser can be opened", async () => {
    const pi = host();
    process.env["PATH"] = join(pi.root, "nothing");
    const told = await askToSignIn(pi);
    expect(told?.title).toContain('MCP server "tracker" needs you to sign in');
    expect(told?.title).toContain(signIn);
  });

  onPosix("gets the browser opened at the address to sign in at", async () => {
    const pi = host();
    const log = opener(pi);
    await askToSignIn(pi);
    await waitFor("the page is opened", () => existsSync(log) && readFileSync(log, "utf8") === signIn);
  });

  it("has no browser window hidden on Windows, whose opener hands on how it was started itself", async () => {
    const started: unknown[][] = [];
    const start = ((...words: unknown[]) => {
      started.push(words);
      const child = Object.assign(new EventEmitter(), { unref: () => undefined });
      setImmediate(() => child.emit("spawn"));
      return child;
    }) as unknown as typeof spawn;
    expect(await openInBrowser("https://example.test/?a=1&b=2", "win32", start)).toBe(true);
    const [[program, words, options] = []] = started;
    expect(program).toMatch(/\\System32\\rundll32\.exe$/);
    expect(words).toEqual(["url.dll,FileProtocolHandler", "https://example.test/?a=1&b=2"]);
    expect(options).not.toHaveProperty("windowsHide");
  });

  it("is not asked any more once the call is aborted, and the next question comes through", async () => {
    const abort = new AbortController();
    const { ui, shown } = person(() => new Promise(() => {}), true);
    const pi = host().configure(".mcp.json").withUi(ui).load();
    const running = pi.failure("mcp_list", { server: "agent" }, { signal: abort.signal });
    await waitFor("the question is shown", () => shown.length === 1);
    abort.abort();
    expect(await running).toMatchObject({ code: "cancelled" });
    expect(shown[0]?.options?.signal?.aborted).toBe(true);
    expect(piText(await pi.run("mcp_list", { server: "agent", query: "echo" }))).toContain("echo");
  });

  it("gets one question at a time, and time without end only at the host's own terminal", async () => {
    let unanswered = 0;
    let most = 0;
    const later = async (): Promise<boolean> => {
      most = Math.max(most, ++unanswered);
      await new Promise((resolve) => setTimeout(resolve, 20));
      unanswered--;
      return true;
    };
    const { ui, shown } = person(later, later, later, later);
    const pi = host().configure(".mcp.json").load();
    pi.context = pi.contextWith({ mode: "rpc", hasUI: true, ui });
    await Promise.all([pi.call("echo"), pi.call("echo"), pi.call("where")]);
    expect([shown.length, most]).toEqual([4, 1]);
    expect(shown[0]?.options?.timeout).toBeGreaterThan(0);
  });

  it("is left alone by a session that is over", async () => {
    const { ui, shown } = person(() => new Promise(() => {}));
    const pi = host().configure(".mcp.json").withUi(ui).load();
    const running = pi.failure("mcp_list", { server: "agent" });
    await waitFor("the question is shown", () => shown.length === 1);
    await pi.emit("session_shutdown", { reason: "new" });
    expect(await running).toMatchObject({ code: "closed" });
    expect(shown).toHaveLength(1);
  });

  it("hears of warnings and errors of a server, not of the rest, and not without end", async () => {
    const { ui, shown } = person();
    const pi = open(host().withUi({ notify: ui.notify as NonNullable<PiUi["notify"]> }));
    await pi.call("log", { level: "info", message: "chatter" });
    await pi.call("log", { level: "warning", message: "low\u001b[31m disk" });
    await pi.call("log", { level: "error", message: "no disk" });
    await waitFor("both are shown", () => shown.length === 2);
    expect(shown.map(({ title, more }) => [title, more])).toEqual([
      ['MCP server "agent": low disk', "warning"],
      ['MCP server "agent": no disk', "error"],
    ]);
    for (let at = 0; at < 20; at++) await pi.call("log", { level: "error", message: `again ${at}` });
    expect(shown).toHaveLength(10);
  });
});

describe("a form that a server asks to be filled in", () => {
  const fields = {
    name: { type: "string", title: "Your name", description: "as others write it" },
    age: { type: "integer", minimum: 18 },
    color: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    agree: { type: "boolean" },
    tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] } },
  };

  it("is asked field by field, each by the dialog that fits", async () => {
    const picked = ["[ ] c", "[ ] a", "[x] c", "(done)"];
    const { ui, shown } = person(true, "Ann", "42", "Green", "Large", "No", ...picked, SEND);
    const pi = open(host().withUi(ui));
    expect(await elicit(pi, fields, Object.keys(fields))).toEqual({
      action: "accept",
      content: { name: "Ann", age: 42, color: "g", size: "l", agree: false, tags: ["a"] },
    });
    expect(shown[1]).toMatchObject({ dialog: "input" });
    expect(shown[1]?.title).toBe('MCP server "agent" asks: Who?\nYour name (as others write it)');
    expect(shown[3]).toMatchObject({ dialog: "select", more: ["Red", "Green"] });
  });

  it("may leave out what is not required; the defaults are filled in", async () => {
    const { ui, shown } = person(true, "", "", "(leave out)", "(leave out)", "(done)", SEND);
    const pi = open(host().withUi(ui));
    const { name, age, color, agree, tags } = fields;
    const asked = { name, age: { ...age, default: 30 }, color, agree, tags };
    expect(await elicit(pi, asked, ["age"])).toEqual({ action: "accept", content: { age: 30 } });
    expect(shown.at(-1)?.more).toEqual([
      SEND,
      "1. Your name: (left out)",
      "2. age: 30",
      "3. color: (left out)",
      "4. agree: (left out)",
      "5. tags: (left out)",
      DECLINE,
    ]);
  });

  it("is shown before it is sent, and any answer can be changed until then", async () => {
    const { ui, shown } = person(true, "Ann", "Green", "1. Your name: Ann", "Bea", "2. color: Green", "Red", SEND);
    const pi = open(host().withUi(ui));
    const { name, color } = fields;
    expect(await elicit(pi, { name, color }, ["name", "color"])).toEqual({
      action: "accept",
      content: { name: "Bea", color: "r" },
    });
    expect(shown[3]?.title).toContain('MCP server "agent" asks: Who?');
    expect(shown[3]?.more).toEqual([SEND, "1. Your name: Ann", "2. color: Green", DECLINE]);
  });

  it("shows what is sent however much the server says of a field, and whatever its default is", async () => {
    const { ui, shown } = person(true, "", "", SEND);
    const pi = open(host().withUi(ui));
    const asked = {
      amount: { type: "string", title: "A".repeat(400), description: "b".repeat(400), default: "all of it" },
      other: { default: { toString: 1, to: "them" } },
    };
    const content = { amount: "all of it", other: { toString: 1, to: "them" } };
    expect(await elicit(pi, asked)).toEqual({ action: "accept", content });
    expect(shown[1]?.title).toMatch(/A… \["all of it"\]$/);
    expect(shown[3]?.more).toEqual([
      SEND,
      `1. ${"A".repeat(300)}…: all of it`,
      '2. other: {"toString":1,"to":"them"}',
      DECLINE,
    ]);
  });

  it("is declined or dismissed when it is shown, and nothing of it is sent", async () => {
    const pi = open(host().withUi(person(true, "Ann", DECLINE, "Ann", undefined).ui));
    expect(await elicit(pi, { name: fields.name })).toEqual({ action: "decline" });
    expect(await elicit(pi, { name: fields.name })).toEqual({ action: "cancel" });
  });

  it("takes only what is of the format that is asked for", async () => {
    const { ui, shown } = person(true, "nobody", "a@b.example", SEND);
    const pi = open(host().withUi(ui));
    const email = { type: "string", format: "email" };
    expect(await elicit(pi, { email }, ["email"])).toEqual({ action: "accept", content: { email: "a@b.example" } });
    expect(shown[2]?.title).toContain("That does not fit: it is not of the format email.");
  });

  it("is asked again for an answer that does not fit, three times in all", async () => {
    const patient = person(true, "x", "7", "20", SEND);
    const pi = open(host().withUi(patient.ui));
    expect(await elicit(pi, { age: fields.age }, ["age"])).toEqual({ action: "accept", content: { age: 20 } });
    expect(patient.shown[3]?.title).toContain("That does not fit");
    const stubborn = open(host().withUi(person(true, "x", "y", "z", "20").ui));
    expect(await elicit(stubborn, { age: fields.age }, ["age"])).toEqual({ action: "cancel" });
  });

  it("is cancelled as a whole with the dialog that is dismissed", async () => {
    const pi = open(host().withUi(person(true, "Ann", undefined).ui));
    expect(await elicit(pi, { name: fields.name, color: fields.color })).toEqual({ action: "cancel" });
  });

  it("without a field is a question to confirm", async () => {
    const pi = open(host().withUi(person(true, true, false).ui));
    expect(await elicit(pi, {})).toEqual({ action: "accept", content: {} });
    expect(await elicit(pi, {})).toEqual({ action: "decline" });
  });
});

describe("a page that a server asks to be visited", () => {
  const url = "https://example.test/consent?a=1&b=%24(touch%20x)";
  const visit = (pi: PiHost): Promise<unknown> =>
    pi
      .call("elicit", { mode: "url", message: "Sign", url, elicitationId: "1" })
      .then((result) => JSON.parse(piText(result)));

  onPosix("is shown in full, and opened after a yes", async () => {
    const { ui, shown } = person(true, true);
    const pi = open(host().withUi(ui));
    const log = opener(pi);
    expect(await visit(pi)).toEqual({ action: "accept" });
    await waitFor("the page is opened", () => existsSync(log) && readFileSync(log, "utf8") === url);
    expect(shown[1]).toMatchObject({ dialog: "confirm", more: url });
    expect(shown[1]?.title).toContain("example.test");
  });

  onPosix(
    "is shown as it is opened, without what makes it read as another one, and with a warning where it may",
    async () => {
      const asked = "https://p\u0430yp\u0430l.example/\u202emoc.elpmaxe";
      const opened = "https://xn--pypl-53dc.example/%E2%80%AEmoc.elpmaxe";
      const { ui, shown } = person(true, true);
      const pi = open(host().withUi(ui));
      const log = opener(pi);
      const result = await pi.call("elicit", { mode: "url", message: "Sign", url: asked, elicitationId: "1" });
      expect(JSON.parse(piText(result))).toEqual({ action: "accept" });
      await waitFor("the page is opened", () => existsSync(log) && readFileSync(log, "utf8") === opened);
      expect(shown[1]?.more).toBe(
        `${opened}\nIts name has letters of other alphabets, and may look like another name.`,
      );
    },
  );

  onPosix("is not opened after a no", async () => {
    const pi = open(host().withUi(person(true, false).ui));
    const log = opener(pi);
    expect(await visit(pi)).toEqual({ action: "decline" });
    expect(existsSync(log)).toBe(false);
  });

  onPosix("is shown once more where there is nothing to open it with", async () => {
    const { ui, shown } = person(true, true);
    const pi = open(host().withUi(ui));
    process.env["PATH"] = join(pi.root, "nothing");
    expect(await visit(pi)).toEqual({ action: "accept" });
    expect(shown.at(-1)).toMatchObject({ dialog: "notify" });
    expect(shown.at(-1)?.title).toContain(url);
  });
});
