import { expect, test } from "@jest/globals";
import { withoutHalfCharacter } from "../src/half-character.ts";

test.each([
  ["", ""],
  ["abc", "abc"],
  ["a🎉", "a🎉"],
  ["a🎉".slice(0, 2), "a"],
  ["\ud83c", ""],
  ["\ud800", ""],
  ["\udbff", ""],
  ["\ud7ff", "\ud7ff"],
  ["\udc00", "\udc00"],
  // What stands before its end is the text's own.
  ["\ud83cx", "\ud83cx"],
  ["x\udf89", "x\udf89"],
])("a text that ends in half a character loses it (%j)", (text, expected) => {
  expect(withoutHalfCharacter(text)).toBe(expected);
});
