import { describe, expect, test } from "@jest/globals";
import { rank } from "../../src/tools/search.ts";
import { brief, signature } from "../../src/tools/signature.ts";
import { firstSentence, headOf, nearNames, tailOf } from "../../src/tools/text.ts";

describe("the first sentence", () => {
  test.each([
    ["One. Two.", "One."],
    ["No end", "No end"],
    ["Uses v1.2 of it. More.", "Uses v1.2 of it."],
    ["  Many\n\nlines   here! And more", "Many lines here!"],
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

describe("near names", () => {
  test("are those with few other characters, or that contain it, whatever their case and separators", () => {
    const names = ["read_file", "readFiles", "write_file", "list", "READ-FILE", "x".repeat(500)];
    expect(nearNames("readfile", names, 5)).toEqual(["read_file", "READ-FILE", "readFiles"]);
    expect(nearNames("rad_file", names, 1)).toEqual(["read_file"]);
    expect(nearNames("quite different", names, 5)).toEqual([]);
  });
});

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

  test("of a prompt is its arguments", () => {
    expect(signature({ arguments: [{ name: "who", required: true }, { name: "how" }] })).toBe(
      "who: string, how?: string",
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
    expect(brief("t", { description: `${"long ".repeat(100)}.`, inputSchema: {} }).summary.length).toBeLessThanOrEqual(
      120,
    );
  });
});

describe("a search", () => {
  const items = [
    { name: "create_issue", description: "Opens a new issue in a repository." },
    { name: "list_issues", description: "Lists issues of a repository." },
    { name: "delete_branch", description: "Removes a branch; mentions an issue by the way." },
    { name: "getWeather", title: "Weather forecast", description: "Tells the temperature." },
    { name: "search", description: "Finds files.", inputSchema: { properties: { pattern: {}, repository: {} } } },
  ].map((item) => ({ item }));
  const found = (query: string): string[] => rank(query, items).map(({ item }) => item.name);

  test("ranks by name, then title, then description and parameters", () => {
    expect(found("issue").slice(0, 3).sort()).toEqual(["create_issue", "delete_branch", "list_issues"]);
    expect(found("issue")[2]).toBe("delete_branch");
    expect(found("create an issue")[0]).toBe("create_issue");
    expect(found("weather forecast")[0]).toBe("getWeather");
    expect(found("get the weather")[0]).toBe("getWeather");
    expect(found("pattern")[0]).toBe("search");
    expect(found("repositories").slice(0, 3).sort()).toEqual(["create_issue", "list_issues", "search"]);
  });

  test("finds nothing where no word fits, and everything where there is no word", () => {
    expect(found("qqqq")).toEqual([]);
    expect(found(" ?! ")).toHaveLength(5);
    expect(found("the")).toEqual(expect.any(Array));
  });
});
