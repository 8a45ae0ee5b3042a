import { describe, expect, it } from "@jest/globals";
import { Cookies } from "../../src/transport/cookies.ts";

function kept(...sets: (readonly string[])[]): string {
  const cookies = new Cookies();
  for (const set of sets) cookies.keep(set);
  return cookies.header;
}

describe("cookies", () => {
  it.each<[string, string[][], string]>([
    ["go back by name and value alone", [["a=1; Path=/; Secure; HttpOnly; SameSite=None", "b=x=y"]], "a=1; b=x=y"],
    ["are replaced by newer ones", [["a=1", "b=2"], ["a=3"]], "b=2; a=3"],
    ["end with their age", [["a=1", "b=2"], ["a=; Max-Age=0"]], "b=2"],
    ["end at their date", [["a=1"], ["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]], ""],
    ["last until then", [["a=1; Max-Age=60; Expires=Fri, 01 Jan 2100 00:00:00 GMT"]], "a=1"],
    ["last by their age, whatever the date", [["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"]], "a=1"],
    ["last where their age is none", [["a=1; Max-Age=", "b=1; Max-Age", "c=1; Max-Age=soon"]], "a=1; b=1; c=1"],
    ["without a name are none", [["=1", "x", "", "; a=1"]], ""],
  ])("%s", (_, sets, expected) => {
    expect(kept(...sets)).toBe(expected);
  });

  it("are bounded, the oldest go first", () => {
    const many = Array.from({ length: 60 }, (_, at) => `c${at}=${"x".repeat(100)}`);
    const header = kept(many);
    expect(header.length).toBeLessThanOrEqual(4096);
    expect(header).toMatch(/c59=x+$/);
    expect(kept([`big=${"x".repeat(5000)}`])).toBe("");
  });
});
