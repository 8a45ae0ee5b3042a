import { describe, expect, it } from "@jest/globals";
import { NotStarted } from "../../src/transport/not-started.ts";
import { type Program, programOnWindows } from "../../src/transport/program-on-windows.ts";

const FILES: Readonly<Record<string, string>> = {
  "C:\\nodejs\\node.exe": "MZ",
  "C:\\nodejs\\npx.cmd": "@ECHO OFF",
  "C:\\tools\\server": "#!/usr/bin/env node",
  "C:\\repo\\run.mjs": "#! /usr/bin/node --flag",
  "C:\\repo\\split.mjs": "#!/usr/bin/env -S node --import tsx\r",
  "C:\\repo\\joined.mjs": "#!/usr/bin/env -Snode",
  "C:\\repo\\nothing.mjs": "#!",
  "C:\\repo\\sub\\start.BAT": "@echo off",
  "C:\\repo\\sub\\py.py": "#!/opt/python3",
  "C:\\repo\\sub\\plain.py": "import sys",
  "C:\\repo\\sub\\renamed.bin": "MZ\ufffd",
};

function program(command: string, ...args: string[]): Program {
  const paths = Object.keys(FILES);
  const known = (path: string): string | undefined => paths.find((each) => each.toLowerCase() === path.toLowerCase());
  const env = { Path: "C:\\nodejs;C:\\tools", PATHEXT: ".EXE;.BAT;.CMD" };
  return programOnWindows(
    { command, args, env, cwd: "C:\\repo" },
    { isFile: (path) => known(path) !== undefined, firstLine: (path) => FILES[known(path) ?? ""] },
  );
}

/** What cmd.exe is given to run. */
function line(command: string, ...args: string[]): string | undefined {
  const { file, args: words, verbatim } = program(command, ...args);
  expect([file, verbatim]).toEqual(["C:\\Windows\\System32\\cmd.exe", true]);
  expect(words.slice(0, -1)).toEqual(["/d", "/e:on", "/v:off", "/s", "/c"]);
  return words.at(-1);
}

describe("the program behind a command on Windows", () => {
  it("is started as it is where Windows can do that", () => {
    const file = "C:\\nodejs\\node.EXE";
    expect(program("node", "a b", 'c"d')).toEqual({ file, args: ["a b", 'c"d'], verbatim: false });
    const renamed = { file: "C:\\repo\\sub\\renamed.bin", args: [], verbatim: false };
    expect(program("sub/renamed.bin")).toEqual(renamed);
    expect(program("C:\\gone\\x.exe")).toEqual({ file: "C:\\gone\\x.exe", args: [], verbatim: false });
  });

  it("is cmd.exe for a batch file, which gets every argument verbatim through both of the lines that are read [C12]", () => {
    const args = [
      "-y",
      "@scope/pkg",
      "a b",
      'c"d',
      "%PATH%",
      "x&y",
      "back\\slash",
      "C:\\dir\\",
      'C:\\a "b\\"',
      "",
      "^!|<>()",
    ];
    expect(line("npx", ...args)).toBe(
      `"${[
        '"C:\\nodejs\\npx.CMD" -y @scope/pkg "a b" "c""d"',
        '"%%cd:~,%PATH%%cd:~,%" "x&y" back\\slash "C:\\dir\\\\"',
        '"C:\\a ""b\\\\""" "" "^!|<>()"',
      ].join(" ")}"`,
    );
    expect(line("sub/start", "x")).toBe('""C:\\repo\\sub\\start.BAT" x"');
  });

  it("is the one that the first line of a script names", () => {
    const node = { file: "C:\\nodejs\\node.EXE", verbatim: false };
    expect(program("server", "x")).toEqual({ ...node, args: ["C:\\tools\\server", "x"] });
    expect(program(".\\run.mjs", "x")).toEqual({ ...node, args: ["--flag", "C:\\repo\\run.mjs", "x"] });
    expect(program(".\\split.mjs")).toEqual({ ...node, args: ["--import", "tsx", "C:\\repo\\split.mjs"] });
    expect(program(".\\joined.mjs")).toEqual({ ...node, args: ["C:\\repo\\joined.mjs"] });
    expect(() => program(".\\nothing.mjs")).toThrow(NotStarted);
  });

  it("that cannot be started says why", () => {
    expect(() => program("uvx")).toThrow("PATH does not lead to it");
    // cmd.exe would start, and end as a server that crashed.
    for (const gone of ["C:\\gone\\x.cmd", ".\\gone.bat"])
      expect(() => program(gone)).toThrow(
        expect.objectContaining({ code: "ENOENT", message: "there is no such file" }),
      );
    expect(() => program("sub\\py.py")).toThrow("PATH does not lead to python3, which its first line names");
    expect(() => program("sub\\plain.py")).toThrow(
      new NotStarted(
        "it is there, but Windows cannot start it; name the program that runs it, with the file as its argument",
      ),
    );
    expect(() => program("npx", "a\nb")).toThrow("it is a batch file, which takes no argument with a line end");
  });

  it("takes a text of many backslashes in no time", () => {
    const begin = performance.now();
    program("npx", `${"\\".repeat(1_000_000)} `);
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});
