import { expect, test } from "@jest/globals";
import { lazyRegExp } from "../src/lazy-regexp.ts";

test("a regular expression is made once, when it is first used", () => {
  const letters = lazyRegExp("\\p{L}", "gu");
  expect("aß1б".replace(letters(), "")).toBe("1");
  expect(letters()).toBe(letters());
});

test("a pattern that is none fails where it is used", () => {
  expect(lazyRegExp("(", "u")).toThrow(SyntaxError);
});
