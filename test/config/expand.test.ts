import { describe, expect, it } from "@jest/globals";
import { Expansion, literal } from "../../src/config/expand.ts";
import { failure } from "../support/config-home.ts";

const ENV = {
  A: "one",
  B: "two",
  EMPTY: "",
  NESTED: "${A}",
  DOLLAR: "$${A}",
  "ProgramFiles(x86)": "C:\\P",
  Path: "C:\\bin",
};

function expand(text: string, platform: NodeJS.Platform = "linux"): string {
  return new Expansion({ server: "s", configPath: "/c.json" }, ENV, platform).text(text, "args[0]");
}

describe("a text", () => {
  it.each([
    ["", ""],
    ["plain", "plain"],
    ["$A $ {A} $", "$A $ {A} $"],
    ["${A}", "one"],
    ["${env:A}", "one"],
    ["x${A}y${B}z", "xoneytwoz"],
    ["${A}${A}", "oneone"],
    ["${EMPTY}", ""],
    ["${EMPTY:-d}", "d"],
    ["${A:-d}", "one"],
    ["${UNSET:-d}", "d"],
    ["${env:UNSET:-d}", "d"],
    ["${UNSET:-}", ""],
    ["${UNSET:-a:-b}", "a:-b"],
    ["${UNSET:-https://h/x}", "https://h/x"],
    ['${UNSET:-{"a":{}}}', '{"a":{}}'],
    ["${UNSET:-${B}}", "two"],
    ["${UNSET:-${UNSET:-${A}/x}}", "one/x"],
    ["${A:-${UNSET}}", "one"],
    ["$${A}", "${A}"],
    ["$${A} ${A}", "${A} one"],
    ["$$${A}", "$${A}"],
    ["a$$b", "a$$b"],
    ["${NESTED}", "${A}"],
    ["${DOLLAR}", "$${A}"],
    ["${UNSET:-${NESTED}}", "${A}"],
  ])("%j becomes %j", (text, expected) => {
    expect(expand(text)).toBe(expected);
  });

  it.each(["plain", "${A}", "$${A}", "a$", "${", "$$${B}", "${UNSET}"])("made literal, %j stays as it is", (text) => {
    expect(expand(literal(text))).toBe(text);
  });

  it.each([
    ["${UNSET}", "${UNSET}"],
    ["${env:UNSET}", "${UNSET}"],
    ["${UNSET:-${OTHER}}", "${OTHER}"],
    ["${constructor}", "${constructor}"],
    ["${__proto__}", "${__proto__}"],
    ["${path}", "${path}"],
  ])("%j fails and names the variable, the field and the entry", async (text, variable) => {
    expect(await failure(() => expand(text))).toBe(
      `config.variable: Server "s" in /c.json: args[0] uses ${variable}, which is not set. Set it in the environment or write ${variable.slice(0, -1)}:-default}.`,
    );
  });

  it.each(["${}", "${1}", "${a b}", "${A${B}}", "${A:?must}", "${A:+x}", "${#A}", "${ A }"])(
    "%j is no variable, and says how to write it literally",
    async (text) => {
      expect(await failure(() => expand(text))).toBe(
        `config.entry: Server "s" in /c.json: args[0] has ${JSON.stringify(text)}, which is not a variable; write "$\${" for a literal "\${".`,
      );
    },
  );

  it("of defaults within defaults without end is refused at once, whatever its length", async () => {
    const nested = (levels: number): string => `${"${UNSET:-".repeat(levels)}d${"}".repeat(levels)}`;
    expect(expand(nested(16))).toBe("d");
    const began = process.cpuUsage();
    expect(await failure(() => expand(nested(100_000)))).toBe(
      'config.entry: Server "s" in /c.json: args[0] nests defaults more than 16 levels deep.',
    );
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
  });

  it("of many variables is refused before it fills the memory", async () => {
    const env = { LONG: "x".repeat(100_000) };
    const expansion = new Expansion({ server: "s", configPath: "/c.json" }, env, "linux");
    expect(expansion.text("${LONG}", "command")).toBe(env.LONG);
    const work = () => expansion.text("${LONG}".repeat(100_000), "args[0]");
    expect(await failure(work)).toBe(
      'config.entry: Server "s" in /c.json: args[0] comes to megabytes once its variables are expanded; use fewer of them.',
    );
  });

  it.each(["${A", "x${", "${UNSET:-{}"])("%j has no end", async (text) => {
    expect(await failure(() => expand(text))).toContain('has "${" without its "}"');
  });
});

describe("on Windows", () => {
  it("compares names without case", () => {
    expect(expand("${PATH};${programfiles(X86)};${a}", "win32")).toBe("C:\\bin;C:\\P;one");
  });
});

describe("what was looked at", () => {
  it("is remembered, unset ones too", () => {
    const expansion = new Expansion({ server: "s", configPath: "/c.json" }, ENV, "linux");
    expansion.text("${A} ${env:B:-x} ${UNSET:-d} $${EMPTY}", "command");
    expect([...expansion.used]).toEqual([
      ["A", "one"],
      ["B", "two"],
      ["UNSET", undefined],
    ]);
  });
});

describe("the variables that an entry gives itself", () => {
  const give = (variables: Record<string, string>): Expansion => {
    const expansion = new Expansion({ server: "s", configPath: "/c.json" }, {}, "win32");
    expansion.give(variables);
    return expansion;
  };

  it("count without case on Windows, the very name before others and the first of those", () => {
    const expansion = give({ One: "1", ONE: "2", Two: "3", TWO: "4" });
    expect(expansion.text("${ONE} ${One} ${one} ${two}", "args[0]")).toBe("2 1 1 3");
  });

  it("are looked through once, however many are asked for", () => {
    let looks = 0;
    const variables = new Proxy<Record<string, string>>(
      { A: "one" },
      {
        ownKeys: (target) => {
          looks++;
          return Reflect.ownKeys(target);
        },
      },
    );
    const expansion = give(variables);
    expect(expansion.text("${a}${B:-}".repeat(100), "args[0]")).toBe("one".repeat(100));
    expect(looks).toBeLessThanOrEqual(1);
  });
});
