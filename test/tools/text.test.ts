import { describe, expect, test } from "@jest/globals";
import { firstSentence, headOf, tailOf } from "../../src/tools/text.ts";

describe("the first sentence", () => {
  test.each([
    ["One. Two.", "One."],
    ["No end", "No end"],
    ["Uses v1.2 of it. More.", "Uses v1.2 of it."],
    ["  Many\nlines   here! And more", "Many lines here!"],
    ["A heading\n \nAnd what is under it.", "A heading"],
    ["Sets options (e.g. a limit) at once. More.", "Sets options (e.g. a limit) at once."],
    ["Compares this vs. that, i.e. both. More.", "Compares this vs. that, i.e. both."],
    ["日本語。次", "日本語。次"],
    ["", ""],
  ])("of %j is %j", (text, expected) => {
    expect(firstSentence(text, 120)).toBe(expected);
  });

  test("is cut between words, never in a character, and bounded", () => {
    expect(firstSentence("word ".repeat(100), 20)).toBe("word word word word…");
    for (let max = 5; max < 15; max++) {
      const cut = firstSentence("🎉".repeat(50), max);
      expect(cut.length).toBeLessThanOrEqual(max);
      expect(cut).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
    }
    for (const odd of [undefined, null, 5, {}, []]) expect(firstSentence(odd, 120)).toBe("");
  });
});

describe("the head and the tail of a text", () => {
  test("are as long as the bytes allow, and end at characters", () => {
    const text = "aä€🎉".repeat(10);
    for (let bytes = 0; bytes <= Buffer.byteLength(text); bytes++) {
      const [head, tail] = [headOf(text, bytes), tailOf(text, bytes)];
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      for (const part of [head, tail]) {
        expect(Buffer.byteLength(part)).toBeLessThanOrEqual(bytes);
        expect(Buffer.byteLength(part)).toBeGreaterThan(bytes - 4);
      }
    }
  });
});
