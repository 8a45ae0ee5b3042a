import { describe, expect, it } from "@jest/globals";
import { cut } from "../src/cut.ts";

describe("a cut", () => {
  it("leaves a mark where something is left out, and only there", () => {
    expect(cut("abc", 3)).toBe("abc");
    expect(cut("abcd", 3)).toBe("abc…");
    expect(cut("", 0)).toBe("");
  });

  it("of what is only a beginning leaves a mark in any case", () => {
    expect(cut("ab", 3, true)).toBe("ab…");
    expect(cut("abc", 3, true)).toBe("abc…");
    expect(cut("abcd", 3, true)).toBe("abc…");
  });

  it("is never between the halves of a character", () => {
    expect(cut("ab🎉c", 3)).toBe("ab…");
    expect(cut("ab🎉c", 4)).toBe("ab🎉…");
    expect(cut(Buffer.from("abä€").subarray(0, 6).toString(), 9, true)).toBe("abä…");
  });
});
