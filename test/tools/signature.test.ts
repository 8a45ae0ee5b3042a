import { describe, expect, test } from "@jest/globals";
import { brief, briefs, signature } from "../../src/tools/signature.ts";

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe("a signature", () => {
  test("names what must be given first, with types and choices", () => {
    const schema = {
      type: "object",
      properties: {
        limit: { type: "integer" },
        path: { type: "string" },
        mode: { enum: ["r", "w"] },
        tags: { type: "array", items: { type: "string" } },
        either: { anyOf: [{ type: "string" }, { type: "null" }, { type: "number" }] },
        fixed: { const: 1 },
        any: true,
        both: { type: ["string", "null"] },
      },
      required: ["path"],
    };
    expect(signature({ inputSchema: schema })).toBe(
      'path: string, limit?: integer, mode?: "r"|"w", tags?: string[], either?: string|number, fixed?: 1, any?: any, both?: string',
    );
  });

  test("has a type for a parameter whose schema names none", () => {
    const properties = { a: { type: [] }, b: { type: ["null"] }, c: { enum: [] }, d: { enum: [], type: "string" } };
    expect(signature({ inputSchema: { properties } })).toBe("a?: any, b?: any, c?: any, d?: string");
  });

  test("keeps a list of a choice apart from a choice with a list in it", () => {
    const properties = {
      formats: { type: "array", items: { enum: ["html", "text"] } },
      parts: { type: "array", items: { anyOf: [{ type: "object" }, { type: "string" }] } },
      either: { anyOf: [{ type: "array", items: { type: "string" } }, { type: "string" }] },
    };
    expect(signature({ inputSchema: { properties } })).toBe(
      'formats?: ("html"|"text")[], parts?: (object|string)[], either?: string[]|string',
    );
  });

  test("says what a list holds that may be null, and what a reference within the schema stands for", () => {
    const schema = {
      properties: {
        tags: { type: ["null", "array"], items: { type: "string" } },
        color: { $ref: "#/$defs/Color" },
        colors: { type: "array", items: { $ref: "#/$defs/Color" } },
        shade: { anyOf: [{ $ref: "#/$defs/Color" }, { type: "null" }] },
        base: { allOf: [{ $ref: "#/$defs/Color" }], default: "red" },
        again: { $ref: "#/properties/tags" },
        odd: { $ref: "#/$defs/a~1b~0c" },
      },
      $defs: { Color: { enum: ["red", "blue"] }, "a/b~c": { type: "integer" } },
    };
    expect(signature({ inputSchema: schema })).toBe(
      'tags?: string[], color?: "red"|"blue", colors?: ("red"|"blue")[], shade?: "red"|"blue", base?: "red"|"blue", ' +
        "again?: string[], odd?: integer",
    );
  });

  test.each([
    "#",
    "#/",
    "#/$defs/Missing",
    "#/$defs/Loop",
    "#/properties/toString",
    "https://example.com/color",
    "",
    5,
  ])("says nothing of what the reference %j stands for", ($ref) => {
    const $defs = { Loop: { $ref: "#/$defs/Loop" } };
    expect(signature({ inputSchema: { properties: { a: { $ref } }, $defs } })).toBe("a?: any");
  });

  test.each([
    [{ type: "array", items: { $ref: "#/$defs/Loop" } }, "any[][][][]"],
    [{ type: ["array", "null"], items: { $ref: "#/$defs/Loop" } }, "any[][][][]"],
    [{ oneOf: [{ allOf: [{ $ref: "#/$defs/Loop" }] }, { type: "null" }] }, "any"],
  ])("is short where a schema holds itself: %j", (Loop, type) => {
    expect(signature({ inputSchema: { properties: { a: { $ref: "#/$defs/Loop" } }, $defs: { Loop } } })).toBe(
      `a?: ${type}`,
    );
  });

  test("takes a schema at its own word where its reference says nothing", () => {
    const properties = {
      outside: { $ref: "https://example.com/color", type: "string" },
      described: { $ref: "#/$defs/Described", enum: [1, 2] },
    };
    const $defs = { Described: { description: "Any." } };
    expect(signature({ inputSchema: { properties, $defs } })).toBe("outside?: string, described?: 1|2");
  });

  test("is made in bounded time, however often schemas refer to one another", () => {
    let looks = 0;
    const leaf = {
      get type() {
        looks++;
        return "string";
      },
    };
    const six = (name: string): object => ({ anyOf: Array.from({ length: 6 }, () => ({ $ref: `#/$defs/${name}` })) });
    const properties = Object.fromEntries(Array.from({ length: 24 }, (_, at) => [`p${at}`, six("a")]));
    signature({ inputSchema: { properties, $defs: { a: six("b"), b: six("leaf"), leaf } } });
    expect(looks).toBeLessThan(500);
  });

  test("tells less of what may be left out where less is asked for", () => {
    const schema = { properties: { a: { type: "string" }, b: { type: "number" }, c: {} }, required: ["b"] };
    expect(signature({ inputSchema: schema }, "names")).toBe("b: number, a?, c?");
    expect(signature({ inputSchema: schema }, "required")).toBe("b: number, …");
    expect(signature({ inputSchema: schema }, "least")).toBe("b, …");
    expect(signature({ inputSchema: { properties: {} } }, "least")).toBe("");
  });

  test("of a prompt is its arguments", () => {
    expect(signature({ arguments: [{ name: "who", required: true }, { name: "how" }] })).toBe(
      "who: string, how?: string",
    );
    expect(signature({ arguments: [{ name: "how" }, { name: "who", required: true }, null, {}] })).toBe(
      "who: string, how?: string, unnamed?: string",
    );
  });

  test.each([
    [undefined],
    [null],
    [true],
    ["object"],
    [{}],
    [{ properties: [] }],
    [{ properties: null, required: null }],
    [{ type: "object", properties: { a: null } }],
  ])("never fails, whatever the schema is: %j", (inputSchema) => {
    expect(typeof signature({ inputSchema })).toBe("string");
  });

  test("is bounded", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`parameter_${at}`, { type: "string" }]),
    );
    expect(signature({ inputSchema: { properties } }).length).toBeLessThan(1000);
    expect(signature({ inputSchema: { properties } })).toMatch(/parameter_23\?: string, …$/);
  });
});

describe("a tool in brief", () => {
  test("has one sentence of at most 120 characters, of the title where there is no description", () => {
    expect(brief("t", { description: "One thing. Another thing.", title: "T" }).summary).toBe("One thing.");
    expect(brief("t", { title: "A title" })).toEqual({ name: "t", summary: "A title", parameters: "" });
    expect(brief("t", { description: `${"long ".repeat(100)}.` }).summary.length).toBeLessThanOrEqual(120);
  });
});

describe("the best matches", () => {
  const properties = Object.fromEntries(["path", "mode", "encoding"].map((name) => [name, { enum: ["one", "two"] }]));
  const found = Array.from({ length: 8 }, (_, at) => ({
    name: `tool_${at}`,
    item: { description: `Does ${"very ".repeat(15)}much.`, inputSchema: { properties, required: ["path"] } },
  }));

  test("are given in full where there is room", () => {
    expect(briefs(found, 5000)).toEqual(found.map(({ name, item }) => brief(name, item)));
    expect(briefs([], 0)).toEqual([]);
  });

  test.each([2000, 1600, 1300, 1000])("keep to %d bytes, and the likeliest keep their detail longest", (bytes) => {
    const shown = briefs(found, bytes);
    expect(bytesOf(shown)).toBeLessThanOrEqual(bytes);
    expect(shown.map(({ name }) => name)).toEqual(found.map(({ name }) => name));
    const sizes = shown.map(bytesOf);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    if (bytes >= 1300) expect(shown[0]).toEqual(brief("tool_0", found[0]?.item ?? {}));
  });

  test("keep their names even where those alone are too long", () => {
    const names = briefs(found, 10).map(({ name, parameters }) => `${name} ${parameters}`);
    expect(names).toEqual(found.map(({ name }) => `${name} path, …`));
  });
});
