import { describe, expect, test } from "@jest/globals";
import { quoteText, readable } from "../src/remote-text.ts";

const HOSTILE = "\u001b[31mred\u001b[0m \u202egnp.exe\u202c\r\nline\u0000two\t\u200bthree";

describe("text from elsewhere", () => {
  test("that keeps its lines has nothing that a terminal would interpret", () => {
    expect(readable(HOSTILE)).toBe("red \u202egnp.exe\u202c\nlinetwo\t\u200bthree");
  });

  test("has no remains of an escape sequence, however short", () => {
    expect(readable("\u001b[?1h\u001b=one\u001b7 two\u001b(B\u001b[m\u001bc three\u001b")).toBe("one two three");
  });

  test("that is quoted is one line, which cannot read as another", () => {
    expect(quoteText(HOSTILE, 100)).toBe("red gnp.exe linetwo three");
    expect(quoteText(" \n ", 100)).toBe("");
    expect(quoteText("a\rb\vc\fd\u0085e", 100)).toBe("a b c d e");
  });

  test("has a mark where it is cut, or was cut before", () => {
    expect(quoteText("one two", 3)).toBe("one…");
    expect(quoteText("one", 3, true)).toBe("one…");
    expect(quoteText("", 3, true)).toBe("");
  });
});
