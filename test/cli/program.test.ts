import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { Shell } from "../support/cli.ts";
import { isAlive } from "../support/wait.ts";

let shell: Shell;
let agent: readonly string[];

beforeEach(() => {
  shell = new Shell();
  const { command, args } = shell.entry("agent.mjs");
  agent = ["--", command, ...args];
});
afterEach(() => shell.remove());

const onPosix = process.platform === "win32" ? it.skip : it;

describe("a program behind --", () => {
  it("is the server of this run: it is listed, called and asked, and neither it nor a file stays", async () => {
    const env = { LEDGER: shell.ledger };
    const listed = await shell.run(["list", "--tool", "echo", ...agent], { env });
    expect(listed.stdout).toContain("echo(");
    const called = await shell.run(["call", "echo", "message=hi", ...agent], { env });
    expect(called).toEqual({ status: 0, signal: null, stdout: "Echo: hi\n", stderr: "" });
    const asked = await shell.run(["request", "tools/call", '{"name":"echo","arguments":{"message":"x"}}', ...agent], {
      env,
    });
    expect(asked.stdout).toContain("Echo: x");
    expect(shell.pids().length).toBe(3);
    expect(shell.pids().filter(isAlive)).toEqual([]);
    expect(readdirSync(shell.root).filter((name) => name.startsWith("rpi-mcp"))).toEqual([]);
  });

  it("gets its arguments to the letter, options and variables among them", async () => {
    shell.write("project/say.cjs", "console.error(JSON.stringify(process.argv.slice(2))); process.exit(3);");
    const words = ["--json", "${HOME}", "a b", "--", ""];
    const { status, stderr } = await shell.run(["list", "--", process.execPath, "say.cjs", ...words]);
    expect(status).toBe(1);
    expect(stderr).toContain(JSON.stringify(words));
    expect(stderr).toContain(`"${basename(process.execPath).replace(/\.exe$/, "")}"`);
  });

  onPosix("is looked for where the person is, wherever it then works", async () => {
    shell.write("elsewhere/empty", "");
    shell.write("project/bin/server", `#!${process.execPath}\nconsole.error(process.cwd()); process.exit(3);`);
    const { stderr } = await shell.run(["list", "--cwd", join(shell.root, "elsewhere"), "--", "bin/server"]);
    expect(stderr).toContain("not executable");
    expect(stderr).toContain(join(shell.cwd, "bin", "server"));
  });

  it("is what a failure speaks of, and no entry that nobody wrote", async () => {
    const env = { LEDGER: shell.ledger };
    const unknown = await shell.run(["call", "ech", ...agent], { env });
    expect(unknown.stderr).toMatch(/Similar: "echo".*\nrpi-mcp list -- PROGRAM shows its tools\.$/m);
    const missing = await shell.run(["list", "--", "no-such-program-here"]);
    expect(missing.stderr).toMatch(
      /(?:it was not found \(ENOENT\)|PATH does not lead to it)\. Check its name, and PATH\.$/m,
    );
    const one = await shell.run(["list", "--", "no-such-program-here -y it"]);
    expect(one.stderr).toMatch(/Check its name, and PATH\. The program and its arguments are separate words/);
    const silent = [process.execPath, "-e", "process.stdin.resume()"];
    const late = await shell.run(["list", "--timeout", "1", "--", ...silent]);
    expect(late.stderr).toMatch(/^Give it longer with --timeout SECONDS\.$/m);
  });

  it.each([
    [["list"], [], "-- needs a program after it"],
    [["list", "github"], ["node"], "list takes either SERVER or -- PROGRAM"],
    [["call"], ["node"], "call needs TOOL"],
    [
      ["call", "shop", "echo", "a=1"],
      ["node"],
      '"echo" is not key=value, and "shop" was taken as TOOL: the program after -- is the server',
    ],
    [["request", "shop", "ping"], ["node"], '"shop" was taken as METHOD: the program after -- is the server'],
    [["call", "echo", "5x"], ["node"], '"5x" is not key=value'],
    [["list", "--all"], ["node"], "--all lists every server"],
    [["list", "--url", "http://127.0.0.1:1"], ["node"], "either that of --url or the program after --"],
    [["list", "--config", "a.json"], ["node"], "--config names a file with others"],
  ])("is refused where the command line cannot mean it: %j -- %j", async (words, program, reason) => {
    const { status, stdout, stderr } = await shell.run([...words, "--", ...program]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(reason);
  });

  it("is none for the other commands: there it is a word that is no option", async () => {
    shell.write("project/--lines", '{"tool":"mcp_list","params":{}}\n');
    const { status, stdout } = await shell.run(["run", "--", "--lines"]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ details: { servers: [] } });
  });
});
