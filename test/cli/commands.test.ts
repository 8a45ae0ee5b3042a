import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { parseCommandLine } from "../../src/cli/program.ts";
import { LIMITS } from "../../src/limits.ts";
import { CLI, type Ended, Shell } from "../support/cli.ts";

let shell: Shell;
let servers: string[];

beforeEach(() => {
  shell = new Shell();
  servers = shell.config({
    shell: shell.entry("shell.mjs"),
    agent: shell.entry("agent.mjs"),
    off: { command: "node", enabled: false },
  });
});
afterEach(() => shell.remove());

const run = (...words: string[]): Promise<Ended> => shell.run([...words, ...servers]);
const text = ({ stdout }: Pick<Ended, "stdout">): string =>
  (JSON.parse(stdout) as { content: { text: string }[] }).content[0]?.text ?? "";

const lineOf = (share: string, step: number): string => (share === "" ? "" : `Calling progress: ${share} step ${step}`);

describe("rpi-mcp list", () => {
  it("shows the configured servers in a table, starting none", async () => {
    const { status, stdout, stderr } = await run("list");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")[0]).toMatch(/^SERVER +TRANSPORT +STATE +SOURCE +RUNS$/);
    expect(stdout).toMatch(/^off +stdio +disabled +/m);
    expect(shell.pids()).toEqual([]);
  });

  it("shows the tools of a server with their parameters and one sentence each", async () => {
    const { status, stdout, stderr } = await run("list", "shell");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("shell (shell 1.2.3)");
    expect(stdout).toContain(
      "  show(zip: string, count?: number, any?: any, note?: string)\n      Gives the arguments back as JSON.\n",
    );
  });

  it.each([
    ["resources", "note://one  One, text/plain"],
    ["resource_templates", "note://{id}  Any note"],
    ["prompts", "greet(who: string)"],
  ])("shows %s", async (kind, line) => {
    expect((await run("list", "shell", "--kind", kind)).stdout).toContain(line);
  });

  it("shows one tool in full, with its schema", async () => {
    const { stdout } = await run("list", "shell", "--tool", "show");
    expect(stdout).toContain("They are not changed.");
    expect(stdout).toContain('"required": [');
  });

  it("searches all servers when none is named", async () => {
    const { status, stdout } = await run("list", "--query", "give arguments back");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}shell show\(zip: string/);
  });

  it("gives the host's result as JSON", async () => {
    const ended = await run("list", "shell", "--json");
    const { details } = JSON.parse(ended.stdout) as { details: { tools: { name: string }[] } };
    expect(details.tools.map(({ name }) => name)).toContain("show");
    expect(JSON.parse(text(ended))).toMatchObject({ server: "shell" });
  });

  it("counts the tools of every enabled server with --all, and fails if one fails", async () => {
    const good = await run("list", "--all");
    expect(good.status).toBe(0);
    expect(good.stdout).toMatch(/^shell +stdio +5 +/m);
    expect(good.stdout).toMatch(/^off +stdio +disabled +/m);
    const [flag, path] = shell.config({ shell: shell.entry("shell.mjs"), gone: { command: "no-such-program-here" } });
    const bad = await shell.run(["list", "--all", flag, path]);
    expect(bad.status).toBe(1);
    expect(bad.stdout).toMatch(/^gone +stdio +failed: spawn_failed +/m);
    expect(bad.stdout).toMatch(/^shell +stdio +5 +/m);
  });
});

describe("rpi-mcp call", () => {
  it("tells a server's progress on stderr where no terminal is, never without end, and not among JSON", async () => {
    const told = await run("call", "agent", "progress", "steps=4", "milliseconds=20");
    expect(told).toMatchObject({ status: 0, stdout: "finished\n" });
    expect(told.stderr.split("\n")).toEqual(
      ["25%", "50%", "75%", "100%", ""].map((share, at) => lineOf(share, at + 1)),
    );
    const many = await run("call", "agent", "progress", "steps=500", "milliseconds=0");
    expect(many.stderr.split("\n").length).toBeLessThan(100);
    const json = await run("call", "agent", "progress", "steps=2", "milliseconds=20", "--json");
    expect([json.status, json.stderr]).toEqual([0, ""]);
  });

  it("prints the text of the result and nothing else", async () => {
    expect(await run("call", "agent", "echo", "message=hello")).toEqual({
      status: 0,
      signal: null,
      stdout: "Echo: hello\n",
      stderr: "",
    });
  });

  it("takes a JSON object, from the line, from stdin and from a file", async () => {
    const given = '{"zip":"1","count":2}';
    shell.write("project/args.json", given);
    for (const [word, input] of [[given], ["-", given], ["@args.json"]] as const) {
      const { stdout } = await shell.run(
        ["call", "shell", "show", word, ...servers],
        input === undefined ? {} : { input },
      );
      expect(stdout).toBe(`${given}\n`);
    }
  });

  it("gives a text where the tool wants a text, even if it reads as a number", async () => {
    expect((await run("call", "shell", "show", "zip=123", "count=4", "any=5")).stdout).toBe(
      '{"zip":"123","count":4,"any":5}\n',
    );
    expect((await run("call", "shell", "show", "zip:=123")).stdout).toBe('{"zip":123}\n');
    expect((await run("call", "shell", "show", "zip=null", "note=42")).stdout).toBe('{"zip":"null","note":"42"}\n');
    expect((await run("call", "shell", "show", "note=null", "any=null")).stdout).toBe('{"note":null,"any":null}\n');
  });

  it("gives the whole result as JSON, the server's own included", async () => {
    const ended = await run("call", "agent", "image", "--json");
    const { content, details } = JSON.parse(ended.stdout) as {
      content: { type: string }[];
      details: { mcpResult: { content: unknown[] } };
    };
    expect(content.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(details.mcpResult.content).toHaveLength(2);
  });

  it("describes images, and saves images, audio and files with --output", async () => {
    const { status, stdout, stderr } = await run("call", "shell", "files", "--output", "got.bin");
    expect(status).toBe(0);
    expect(stdout).toContain("[image: image/png, 20 bytes]");
    for (const name of ["got.bin", "got-2.bin", "got-3.bin"]) {
      expect(readFileSync(join(shell.cwd, name), "utf8")).toBe("not really a picture");
      expect(stderr).toContain(name);
    }
    mkdirSync(join(shell.cwd, "two-2.bin"));
    const half = await run("call", "shell", "files", "--output", "two.bin");
    expect([half.status, half.stdout]).toEqual([1, stdout]);
    expect(half.stderr).toMatch(/^The tool ran, but two-2\.bin cannot be written: /m);
    for (const path of ["no/such/folder.bin", ".", "folder/"]) {
      const refused = await run("call", "agent", "echo", "message=x", "--output", path);
      expect([refused.status, refused.stdout]).toEqual([2, ""]);
      expect(refused.stderr).toContain("Nothing was called.");
    }
    const nothing = await run("call", "agent", "echo", "message=x", "--output", "none.bin");
    expect([nothing.status, existsSync(join(shell.cwd, "none.bin"))]).toEqual([1, false]);
  });

  it("prints a long result whole, though a model would see a part", async () => {
    const plain = await run("call", "shell", "long");
    expect(plain.stdout).toHaveLength(100_004);
    const json = await run("call", "shell", "long", "--json");
    expect(text(json)).toHaveLength(100_003);
  });

  it("prints a text once where the structured content only gives it a name, and all of it as JSON", async () => {
    const config = shell.config({ results: shell.entry("results.mjs") });
    const { stdout } = await shell.run(["call", "results", "structured-wrapper", ...config]);
    expect(stdout.trimEnd()).toBe("a");
    const other = await shell.run(["call", "results", "structured-and-other-text", ...config]);
    expect(other.stdout).toBe('a is 1\n{"a":1}\n');
    const raw = await shell.run(["call", "results", "structured-wrapper", "--json", ...config]);
    expect(JSON.parse(raw.stdout)).toMatchObject({ content: [{ text: "a\n" }, { text: '{"content":"a\\n"}' }] });
  });

  it("removes what a terminal would interpret, unless the raw result is asked for", async () => {
    expect((await run("call", "shell", "controls")).stdout).toBe("red bell plain\n");
    expect(text(await run("call", "shell", "controls", "--json"))).toContain("\u001b[31m");
  });

  it("ends with 1 and the tool's own text on stderr when the tool fails", async () => {
    const { status, stdout, stderr } = await run("call", "agent", "fail");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe("The tool failed: the disk is on fire\n");
  });

  it("tells failures as JSON on stderr with --json", async () => {
    const { status, stdout, stderr } = await run("call", "agent", "fail", "--json");
    expect([status, stdout]).toEqual([1, ""]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "tool_error", message: "the disk is on fire" } });
  });

  it("says what to do next for a wrong tool, a wrong server and a slow one", async () => {
    const tool = await run("call", "agent", "ecko");
    expect(tool.status).toBe(1);
    expect(tool.stderr).toMatch(/Error \(tool_not_found\).*"echo"[\s\S]*rpi-mcp list agent/);
    const server = await run("call", "agnet", "echo");
    expect(server.status).toBe(1);
    expect(server.stderr).toMatch(/Error \(server_not_found\)[\s\S]*rpi-mcp list/);
    const slow = await run("call", "shell", "never", "--timeout", "1");
    expect(slow.status).toBe(1);
    expect(slow.stderr).toMatch(/Error \(timeout\)[\s\S]*--timeout/);
  });

  it("declines a server's question where nobody can be asked", async () => {
    const question = JSON.stringify({
      message: "Name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    });
    const { status, stdout, stderr } = await run("call", "agent", "elicit", question);
    expect([status, JSON.parse(stdout)]).toEqual([0, { action: "decline" }]);
    expect(stderr).toContain("Name?");
  });

  it("tells servers the folders of --root, and only then that there are any", async () => {
    const { stdout } = await run("call", "agent", "roots", "--root", shell.home, "--root", ".");
    expect(JSON.parse(stdout)).toMatchObject({ roots: [{ name: "home" }, { name: "project" }] });
    expect((await run("call", "agent", "where")).stdout).not.toContain("roots");
  });

  it("works in the folder of --cwd", async () => {
    shell.write("other/.mcp.json", { mcpServers: { agent: shell.entry("agent.mjs") } });
    const { stdout } = await shell.run(["--cwd", join(shell.root, "other"), "--trust", "call", "agent", "where"]);
    expect(JSON.parse(stdout)).toMatchObject({ cwd: join(shell.root, "other") });
  });
});

describe("rpi-mcp request", () => {
  it("prints resources and prompts in their own words", async () => {
    const resource = await run("request", "shell", "resources/read", "uri=note://one");
    expect(resource.stdout).toBe("the text of note://one\n[binary resource: note://one, image/png, 20 bytes]\n");
    const prompt = await run("request", "shell", "prompts/get", '{"name":"greet","arguments":{"who":"Al"}}');
    expect(prompt.stdout).toBe("A greeting.\n\nuser: Greet Al\n");
  });

  it("prints anything else as JSON", async () => {
    const { stdout } = await run("request", "shell", "prompts/list");
    expect(JSON.parse(stdout)).toMatchObject({ prompts: [{ name: "greet" }] });
  });

  it("saves the file of a resource", async () => {
    await run("request", "shell", "resources/read", "uri=note://one", "--output", "one.png");
    expect(readFileSync(join(shell.cwd, "one.png"), "utf8")).toBe("not really a picture");
  });

  it("ends with 1 on the server's error, and with 2 on what can never be sent", async () => {
    const refused = await run("request", "shell", "completion/complete");
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("rpc_error");
    expect((await run("request", "shell", "initialize")).status).toBe(2);
  });
});

describe("rpi-mcp run", () => {
  const lines = [
    '{"tool":"mcp_call","params":{"server":"agent","tool":"where"}}',
    "not json",
    "",
    '["no object"]',
    '{"params":{}}',
    '{"tool":"mcp_frob","params":{}}',
    '{"tool":"mcp_call","params":{"server":"agent","tool":"fail"}}',
    '{"tool":"mcp_call","params":{"server":"agent","tool":"where","configPath":"","url":null}}',
    '{"tool":"mcp_list"}',
  ];

  it("answers each line with one line of JSON in one session, and goes on after a bad one", async () => {
    const { status, stdout } = await shell.run(["run", "-", ...servers], { input: `${lines.join("\n")}\n` });
    expect(status).toBe(1);
    type Answer = { content?: { text: string }[]; error?: { code: string; message: string } };
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Answer);
    expect(answers.map(({ error }) => error?.code)).toEqual([
      undefined,
      "invalid_params",
      "invalid_params",
      "invalid_params",
      "invalid_params",
      "tool_error",
      undefined,
      undefined,
    ]);
    expect(answers[1]?.error?.message).toContain("Line 2");
    const pid = (answer: Answer | undefined): unknown =>
      (JSON.parse(answer?.content?.[0]?.text ?? "{}") as { pid?: number }).pid;
    expect(pid(answers[0])).toBe(pid(answers[6]));
    expect(pid(answers[0])).toEqual(expect.any(Number));
  });

  it("takes a line for one, whatever separates lines in its texts", async () => {
    const inner = '{"tool":"mcp_call","params":{"server":"agent","tool":"where"}}';
    const message = `before\u2028${inner}\u2029after\u0085\u{1f389}`;
    const line = JSON.stringify({
      tool: "mcp_call",
      params: { server: "agent", tool: "echo", arguments: { message } },
    });
    const { status, stdout } = await shell.run(["run", "-", ...servers], { input: `\r\n${line}\r\n\n${line}` });
    expect(status).toBe(0);
    const answers = stdout.split("\n").map((each) => (each === "" ? "" : text({ stdout: each })));
    expect(answers).toEqual([`Echo: ${message}`, `Echo: ${message}`, ""]);
  });

  it("refuses a line that is too long, and goes on with the next", async () => {
    const line = (n: number, more: string): string =>
      `{"tool":"mcp_call","params":{"server":"agent","tool":"echo","arguments":{"message":"${n}"}},"more":"${more}"}`;
    const input = [line(1, ""), line(2, "x".repeat(LIMITS.messageBytes)), line(3, "")].join("\n");
    const { status, stdout } = await shell.run(["run", "-", ...servers], { input: `${input}\n` });
    expect(status).toBe(1);
    const [first = "", second = "", third = ""] = stdout.split("\n");
    expect([first, third].map((each) => text({ stdout: each }))).toEqual(["Echo: 1", "Echo: 3"]);
    expect(JSON.parse(second)).toMatchObject({
      error: { code: "invalid_params", message: expect.stringMatching(/Line 2 .*16 MiB/) },
    });
  });

  it("reads a file, and ends with 0 if every line succeeds", async () => {
    shell.write("project/lines.jsonl", '\uFEFF{"tool":"mcp_list","params":{}}\r\n');
    const { status, stdout, stderr } = await run("run", "lines.jsonl");
    expect([status, stderr, stdout.split("\n").length]).toEqual([0, "", 2]);
  });

  it("ends with 2 without a file that can be read", async () => {
    expect((await run("run")).status).toBe(2);
    expect((await run("run", "no-such-file")).status).toBe(2);
    expect((await run("run", ".")).status).toBe(2);
  });
});

describe("the trust of a project's own servers", () => {
  beforeEach(() => {
    shell.write("project/.mcp.json", { mcpServers: { mine: shell.entry("agent.mjs") } });
  });

  it("is not assumed without a terminal, and the error names the ways out", async () => {
    const { status, stderr } = await shell.run(["call", "mine", "echo", "message=x"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/Error \(denied\)[\s\S]*--trust[\s\S]*--config/);
    expect(shell.pids()).toEqual([]);
  });

  it("is given with --trust, or by naming the file", async () => {
    expect((await shell.run(["call", "mine", "echo", "message=x", "--trust"])).stdout).toBe("Echo: x\n");
    expect((await shell.run(["call", "mine", "echo", "message=x", "--config", ".mcp.json"])).stdout).toBe("Echo: x\n");
  });
});

describe("a command line that cannot be right", () => {
  it.each([
    [["frob"]],
    [["list", "--frob"]],
    [["list", "a", "--kind", "frobs"]],
    [["call", "shell", "show", "--timeout", "0"]],
    [["call", "shell", "show", "--timeout", "301"]],
    [["call", "shell", "show", "--timeout", "1.5"]],
    [["call", "shell", "show", "--timeout", "soon"]],
    [["call", "--url", "http://x", "--config", "y", "show"]],
    [["call", "--url", "http://x", "show", "--header", "no colon"]],
    [["call", "--url", "http://x", "show", "--header", "A: 1", "--header", "a: 2"]],
    [["doctor", "shell"]],
  ])("%j is not even tried", (words) => {
    expect(parseCommandLine(words)).toMatchObject({
      status: 2,
      out: "",
      err: expect.stringContaining("rpi-mcp --help"),
    });
  });

  it.each([
    [["list", "a", "b"]],
    [["list", "a", "--url", "http://x"]],
    [["list", "--all", "--query", "x"]],
    [["list", "--tool", "x"]],
    [["call"]],
    [["call", "shell"]],
    [["call", "shell", "show", "zip"]],
    [["call", "shell", "show", "--header", "A: b"]],
    [["call", "--url", "ftp://x", "show"]],
    [["call", "shell", "show", "--root", "/no/such/folder"]],
    [["call", "shell", "show", "--cwd", "/no/such/folder"]],
    [["request", "shell"]],
    [["import", "netscape"]],
    [["import", "--overwrite"]],
    [["login"]],
  ])("%j ends with 2 and says so on stderr", async (words) => {
    const { status, stdout, stderr } = await shell.run(words);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^Error \(invalid_params\): /);
  });

  // Windows removes no folder that a process works in.
  (process.platform === "win32" ? it.skip : it).each([
    "list",
    "doctor",
    "import",
    "call agent echo",
    "list --cwd folder",
    "list --cwd / --root folder",
    "doctor --cwd / --config mcp.json",
    "login agent --cwd / --config mcp.json",
    "import --cwd / --config mcp.json",
  ])("%s in a folder that was removed ends with 2 and says so", async (command) => {
    const line = `mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"`;
    const { status, stderr } = spawnSync("sh", ["-c", line, process.execPath, CLI, ...command.split(" ")], {
      cwd: shell.root,
      env: shell.env,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining("working directory of this process was removed")]);
  });
});
