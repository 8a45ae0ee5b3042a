import { execFileSync } from "node:child_process";
import { describe, expect, it } from "@jest/globals";
import { commandLine, shellLine } from "../src/command-line.ts";

describe("a command shown to a person", () => {
  it("stands there as it is where no word could mislead", () => {
    expect(commandLine("npx", ["-y", "@scope/server@1.2", "--port=80"])).toBe("npx -y @scope/server@1.2 --port=80");
    expect(commandLine("C:\\tools\\server.exe")).toBe("C:\\tools\\server.exe");
  });

  it("has its words quoted where a blank, a quote, a line end or nothing at all would", () => {
    expect(commandLine("my server", ["a b", "", 'c"d', "e\nf", "; rm"])).toBe(
      String.raw`"my server" "a b" "" "c\"d" "e\nf" "; rm"`,
    );
  });
});

describe("a command to paste into a shell", () => {
  const hostile = [
    "https://h.example/mcp?a=1&b=$(exit)`exit`",
    "/it's a \\ folder/mcp.json",
    "~/mcp.json",
    "",
    "$HOME;*!!",
  ];

  (process.platform === "win32" ? it.skip : it)("reaches the program as it is, whatever is in it", () => {
    const line = shellLine(["printf", "%s\\n", ...hostile], "linux");
    expect(execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" }).split("\n").slice(0, -1)).toEqual(hostile);
  });

  it("has on Windows nothing that PowerShell would run within quotes, and nothing that cmd would run outside them", () => {
    expect(
      shellLine(["login", "https://h.example/mcp?a=1&b=$(calc)`", "--config", "C:\\my files\\mcp.json"], "win32"),
    ).toBe('login "https://h.example/mcp?a=1&b=`$(calc)``" --config "C:\\my files\\mcp.json"');
  });
});
