import { describe, expect, it } from "@jest/globals";
import { searchTexts } from "../../src/tools/search-texts.ts";

const LONG = "word ".repeat(1000);
const PROPERTIES = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`p${at}_${LONG}`, { description: LONG }]));
const ITEM = { name: "n".repeat(200), title: LONG, description: LONG, inputSchema: { properties: PROPERTIES } };

/** Of each field that a server may make long. */
function lengths(items: number): number[] {
  const { title, firstSentence, description, parameters, parameterTexts } = searchTexts(ITEM, "s", items);
  return [title, firstSentence + description, parameters, parameterTexts].map(({ length }) => length);
}

describe("the texts that a search looks through", () => {
  it("are bounded for each item", () => {
    expect(lengths(1)).toEqual([2000, 500, 2000, 2000]);
  });

  it("are bounded for all items together, however many there are, and names are whole", () => {
    for (const each of lengths(16_384)) expect(each * 16_384).toBeLessThan(2_100_000);
    expect(searchTexts(ITEM, "s", 16_384).name).toBe(ITEM.name);
  });
});
