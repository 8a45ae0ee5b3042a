import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { readArguments } from "../../src/cli/arguments.ts";

const { signal } = new AbortController();
const read = async (...words: string[]): Promise<unknown> => (await readArguments(words, "ARGUMENTS", signal)).values;

const LARGE = ["9007199254740993", 1e300, 0.12345678901234568, 9007199254740991];

describe("arguments on the command line", () => {
  it.each<[string[], unknown]>([
    [[], {}],
    [["text=hello"], { text: "hello" }],
    [["text=hello world"], { text: "hello world" }],
    [["text="], { text: "" }],
    [["a=1", "b=-2.5", "c=1e3"], { a: 1, b: -2.5, c: 1000 }],
    [["a=true", "b=false", "c=null"], { a: true, b: false, c: null }],
    [["a=True", "b=yes", "c=02134", "d=1.2.3", "e=.5"], { a: "True", b: "yes", c: "02134", d: "1.2.3", e: ".5" }],
    [['list=[1, "two"]', 'object={"a": {"b": null}}'], { list: [1, "two"], object: { a: { b: null } } }],
    [['text="quoted"', 'number="7"'], { text: "quoted", number: "7" }],
    [["text='single'", "text2=[not json"], { text: "'single'", text2: "[not json" }],
    [["url=http://x/?a=b&c=:=d"], { url: "http://x/?a=b&c=:=d" }],
    [["a:=1", 'b:="x"', "c:=[]"], { a: 1, b: "x", c: [] }],
    [["id=9007199254740993", "ok=9007199254740991"], { id: "9007199254740993", ok: 9007199254740991 }],
    [['{"a": ["9007199254740993", 1e300, 0.12345678901234567890, 9007199254740991]}'], { a: LARGE }],
    [["a:=9007199254740993.0", 'b=["\\"9007199254740993"]'], { a: 9007199254740992, b: ['"9007199254740993'] }],
    [["a.b=1", "c d=2", "ä=3"], { "a.b": 1, "c d": 2, ä: 3 }],
    [['{"text": "hello", "n": 1}'], { text: "hello", n: 1 }],
    [["  {}"], {}],
    [["line=one\ntwo"], { line: "one\ntwo" }],
  ])("%j are %j", async (words, expected) => {
    expect(await read(...words)).toEqual(expected);
  });

  it("keep a key named __proto__ as a key", async () => {
    const values = (await read("__proto__=1", "constructor=x")) as object;
    expect(Object.entries(values)).toEqual([
      ["__proto__", 1],
      ["constructor", "x"],
    ]);
  });

  it.each([
    [["hello"], "hello"],
    [["=1"], "=1"],
    [["[1]"], "[1]"],
    [["a=1", "a=2"], "given twice"],
    [["a:=x"], "not valid JSON"],
    [["{bad"], "not valid JSON"],
    [["a:=9007199254740993"], "too large to be exact. Write it as a string, in quotes"],
    [['a:={"b": [-9007199254740993]}'], "-9007199254740993, which is too large to be exact"],
    [['{"a": 1, "b": 9007199254740993}'], "too large to be exact"],
    [["{}", "a=1"], "nothing else can be given with"],
    [["-", "a=1"], "nothing else can be given with"],
    [["@/no/such/file"], "Cannot read"],
  ])("%j are refused, and say why", async (words, reason) => {
    await expect(read(...words)).rejects.toMatchObject({
      code: "invalid_params",
      message: expect.stringContaining(reason),
    });
  });

  it("are read from a file behind @", async () => {
    const folder = mkdtempSync(join(tmpdir(), "arguments-"));
    try {
      const file = join(folder, "a.json");
      writeFileSync(file, '{"a": [1]}');
      expect(await read(`@${file}`)).toEqual({ a: [1] });
      writeFileSync(file, '\uFEFF{"b": 2}');
      expect(await read(`@${file}`)).toEqual({ b: 2 });
      writeFileSync(file, "[1]");
      await expect(read(`@${file}`)).rejects.toMatchObject({
        message: expect.stringContaining("must be a JSON object"),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
