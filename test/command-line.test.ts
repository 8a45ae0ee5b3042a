import { describe, expect, it } from "@jest/globals";
import { commandLine } from "../src/command-line.ts";

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
