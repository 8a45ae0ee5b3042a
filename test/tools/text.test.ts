import { describe, expect, test } from "@jest/globals";
import { firstSentence, headOf, tailOf } from "../../src/tools/text.ts";

describe("the first sentence", () => {
  test.each([
    ["One. Two.", "One."],
    ["No end", "No end"],
    ["Uses v1.2 of it. More.", "Uses v1.2 of it."],
    ["  Many\nlines   here! And more", "Many lines here!"],
    ["A heading\n \nAnd what is under it.", "A heading"],
    ["API | Retrieve a user\nError Responses:\n400: Bad request", "API | Retrieve a user"],
    ["Adds two numbers\n    Args:\n        a: The first one", "Adds two numbers"],
    ["\n  🎯 Purpose:\n    1. Retrieves a list of objects. Filters it.\n    2. More.", "Retrieves a list of objects."],
    ["<Purpose>\nLoads the guide.\n</Purpose>", "Loads the guide."],
    ["## Description\n\n- One thing\n- Another", "One thing - Another"],
    ["**Purpose:** Retrieve the content. More.", "Retrieve the content."],
    ["Purpose of it all: nothing. More.", "Purpose of it all: nothing."],
    ["Manages issues:\n1. creates\n2. lists", "Manages issues: 1. creates 2. lists"],
    ["Version 2. More.", "Version 2."],
    ["Sets these options, all of them:\nName:\nSize:", "Sets these options, all of them: Name: Size:"],
    ["Sets options (e.g. a limit) at once. More.", "Sets options (e.g. a limit) at once."],
    ["Compares this vs. that, i.e. both. More.", "Compares this vs. that, i.e. both."],
    ["日本語。次", "日本語。次"],
    ["", ""],
  ])("of %j is %j", (text, expected) => {
    expect(firstSentence(text, 120)).toBe(expected);
  });

  test("of an odd text is found in no time to speak of", () => {
    for (const piece of [
      "a\n",
      " ",
      "\n",
      "a:\n",
      "a",
      "a \n b",
      "  \n",
      "1.\n",
      "Purpose\n",
      "- ",
      `${"a".repeat(25)}\nb`,
    ]) {
      const begun = process.cpuUsage();
      firstSentence(piece.repeat(2000 / piece.length), 120);
      expect(process.cpuUsage(begun).user).toBeLessThan(200_000);
    }
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

  test("keep what is of the text itself, and take no time to speak of for it", () => {
    const text = `a${"\ufffd".repeat(100_000)}b${"\ufffd".repeat(100_000)}`;
    const begun = process.cpuUsage();
    expect(headOf(text, 300_001)).toHaveLength(100_001);
    expect(headOf(text, 300_003)).toHaveLength(100_002);
    expect(tailOf(text, 300_001)).toHaveLength(100_001);
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  });
});
