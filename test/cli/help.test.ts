import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { parseCommandLine } from "../../src/cli/program.ts";
import { DIALECTS } from "../../src/config/imports/read.ts";
import { VERSION } from "../../src/version.ts";
import { Shell } from "../support/cli.ts";

const docs = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");

function help(...words: string[]): string {
  const parsed = parseCommandLine([...words, "--help"]);
  if ("command" in parsed) throw new Error("That is no help.");
  expect(parsed).toMatchObject({ status: 0, err: "" });
  return parsed.out;
}

const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name = ""]) => name).filter((name) => name !== "rpi");
const optionsIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([option]) => option));
const section = (text: string, title: string): string =>
  text.split(/^## /m).find((part) => part.startsWith(title)) ?? "";

const commands = commandsIn(help().split("Commands:")[1]?.split("Examples:")[0] ?? "").filter(
  (name) => name !== "help",
);

describe("the help and docs/cli.md", () => {
  it("name the same commands, with the same words behind them", () => {
    const usages = commands.map((name) => /^Usage: (.*)$/m.exec(help(name))?.[1]?.replace(" [OPTIONS]", ""));
    expect(commands.length).toBeGreaterThan(5);
    expect([...docs.matchAll(/^## (rpi-mcp .*)$/gm)].map(([, usage]) => usage)).toEqual(usages);
  });

  it("name the same options, for all commands and for each", () => {
    const shared = optionsIn(help().split("Commands:")[0] ?? "");
    const told = optionsIn(section(docs, "Options of all commands"));
    for (const option of ["--help", "--version"]) expect(docs).toContain(`rpi-mcp ${option}`);
    expect([...told, "--help", "--version"].sort()).toEqual([...shared].sort());
    for (const name of commands) {
      const own = optionsIn((help(name).split("\nOptions:\n")[1] ?? "").split("Global Options:")[0] ?? "");
      own.delete("--help");
      const rows = [...section(docs, `rpi-mcp ${name}`).matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option]) => option);
      expect([name, ...rows]).toEqual([name, ...[...own].filter((option) => !shared.has(option))]);
    }
  });

  it("show an example of every command, in whole sentences and without trailing blanks", () => {
    for (const name of commands) {
      const text = help(name);
      expect(text).toMatch(new RegExp(`^Example:\\n {2}rpi-mcp ${name} `, "m"));
      expect(text).toMatch(/^Usage: .*\n\n[A-Z][\s\S]*?\.\n\nOptions:/);
      expect(text).not.toMatch(/ $/m);
    }
  });

  it("name no option that there is not", () => {
    const all = new Set([help(), ...commands.map((name) => help(name))].flatMap((text) => [...optionsIn(text)]));
    expect([...optionsIn(docs)].filter((option) => !all.has(option))).toEqual([]);
  });

  it("name every dialect that can be imported", () => {
    expect(help("import").replace(/\s+/g, " ")).toContain(`DIALECT: ${DIALECTS.join(", ")}.`);
  });

  it("show the shared options with every command", () => {
    for (const name of commands) expect(help(name)).toContain("--config <file>");
  });
});

describe("the built command", () => {
  let shell: Shell;
  beforeEach(() => {
    shell = new Shell();
  });
  afterEach(() => shell.remove());

  it("prints its help and its version on stdout", async () => {
    expect(await shell.run(["--help"])).toEqual({ status: 0, signal: null, stdout: help(), stderr: "" });
    expect(await shell.run(["--version"])).toEqual({ status: 0, signal: null, stdout: `${VERSION}\n`, stderr: "" });
  });

  it("prints its help on stderr, and fails, where no command was given", async () => {
    const { status, stdout, stderr } = await shell.run([]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Commands:");
  });

  it("guesses what a misspelt command or option was to be", async () => {
    expect((await shell.run(["lst"])).stderr).toContain("Did you mean list?");
    expect((await shell.run(["list", "--qery", "x"])).stderr).toContain("Did you mean --query?");
  });

  it("says what there is, where somebody tries what another tool has", async () => {
    expect((await shell.run(["tools"])).stderr).toContain("Commands: list, call, request,");
    for (const words of [
      ["add", "a", "--", "npx", "-y", "b"],
      ["mcp", "add", "--transport", "http", "a", "https://b"],
    ]) {
      const { stderr } = await shell.run(words);
      expect(stderr).toContain(
        `Unknown command '${words[0]}'\nServers are configured in a file, such as ~/.config/mcp/mcp.json:\n`,
      );
      expect(stderr).toContain("rpi-mcp list -- npx -y PACKAGE");
    }
    expect((await shell.run(["call", "s", "t", "--args", "{}"])).stderr).toContain(
      "is written without dashes: key=value",
    );
    expect((await shell.run(["list", "--schema"])).stderr).not.toContain("Commands:");
    const forgotten = await shell.run(["list", "npx", "-y", "some-server"]);
    expect(forgotten.stderr).toContain("goes at the end, after --: rpi-mcp list -- npx -y");
    expect((await shell.run(["list", "s", "tool"])).stderr).toContain("--tool NAME");
    expect((await shell.run(["import", "goose"])).stderr).toContain("--config FILE");
  });

  it("tells every wrong command line in the same way, also one that asks for help", async () => {
    for (const words of [["bogus"], ["help", "bogus"], ["list", "--bogus"], ["call"], ["list", "--timeout", "x"]]) {
      const { status, stdout, stderr } = await shell.run(words);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^Error \(invalid_params\): [A-Z a-z]/);
      if (words.includes("bogus")) expect(stderr).toContain("nknown command 'bogus'");
    }
  });

  it("tells a wrong command line as JSON where JSON is wanted", async () => {
    for (const words of [["list", "--bogus"], ["call"], ["list", "--timeout", "x"]]) {
      const { status, stdout, stderr } = await shell.run([...words, "--json"]);
      expect([status, stdout]).toEqual([2, ""]);
      const { error } = JSON.parse(stderr) as { error: { message: string } };
      expect(error).toEqual({ code: "invalid_params", message: error.message, details: expect.any(Object) });
      expect(error.message).toMatch(/^[A-Z a-z]/);
    }
  });

  it("takes no empty value, as a variable leaves it that is not set", async () => {
    for (const option of ["--config", "--url", "--root", "--cwd"])
      expect(parseCommandLine(["list", option, ""])).toMatchObject({
        status: 2,
        err: expect.stringContaining("empty"),
      });
    for (const option of ["--query", "--tool"])
      expect(parseCommandLine(["list", "x", option, ""])).toMatchObject({ status: 2 });
    for (const option of ["--output", "--id"])
      expect(parseCommandLine(["request", "x", "y", option, ""])).toMatchObject({ status: 2 });
    for (const words of [
      ["list", ""],
      ["call", "", "echo"],
      ["call", "x", ""],
      ["login", ""],
    ]) {
      const { status, stdout, stderr } = await shell.run(words);
      expect([words, status, stdout]).toEqual([words, 2, ""]);
      expect(stderr).toContain(`rpi-mcp ${words[0]} --help`);
    }
  });
});
