import { describe, expect, test } from "@jest/globals";
import { printable } from "../src/auth/context.ts";
import { quoteText, readable } from "../src/remote-text.ts";

const HOSTILE = "\u001b[31mred\u001b[0m \u202egnp.exe\u202c\r\nline\u0000two\t\u200bthree";

describe("text from elsewhere", () => {
  test("that keeps its lines has nothing that a terminal would interpret", () => {
    expect(readable(HOSTILE)).toBe("red \u202egnp.exe\u202c\nlinetwo\t\u200bthree");
  });

  test.each([
    ["quoted", (text: string) => quoteText(text, 100)],
    ["of an authorization server", (text: string) => printable(text)],
  ])("%s is one line, which cannot read as another", (_, shown) => {
    expect(shown(HOSTILE)).toBe("red gnp.exe linetwo three");
    expect(shown(" \n ")).toBe("");
    expect(shown("a\rb\vc\fd\u0085e")).toBe("a b c d e");
  });

  test("has a mark where it is cut, or was cut before", () => {
    expect(quoteText("one two", 3)).toBe("one…");
    expect(quoteText("one", 3, true)).toBe("one…");
    expect(quoteText("", 3, true)).toBe("");
  });
});
