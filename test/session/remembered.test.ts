import { describe, expect, test } from "@jest/globals";
import { RememberedPage } from "../../src/session/remembered.ts";

const RESULT = { tools: [{ name: "one", description: "grüße 🎉" }] };
const RESULT_JSON = JSON.stringify(RESULT);

/** A page that remembers one answer, in either form in which answers come. */
function remembering(
  text: string,
  id: number,
  asBytes: boolean,
): { page: RememberedPage; match: (text: string, id: number) => unknown } {
  const raw = (value: string): Buffer | string => (asBytes ? Buffer.from(value) : value);
  const page = new RememberedPage();
  page.keep(raw(text), id, RESULT);
  return { page, match: (value, at) => page.match(raw(value), at) };
}

describe.each([true, false])("a remembered page (as bytes: %p)", (asBytes) => {
  test.each([
    ["the id in front", (id: number) => `{"jsonrpc":"2.0","id":${id},"result":${RESULT_JSON}}`],
    ["the id before the version", (id: number) => `{"id":${id},"jsonrpc":"2.0","result":${RESULT_JSON}}`],
    ["the id at the end", (id: number) => `{"result":${RESULT_JSON},"id":${id}}`],
    ["the version at the end", (id: number) => `{"result":${RESULT_JSON},"id":${id},"jsonrpc":"2.0"}`],
    ["blanks", (id: number) => `{ "jsonrpc" : "2.0" , "id" : ${id} , "result" : ${RESULT_JSON} } `],
  ])("is recognised by its bytes, with %s, also when the id gets longer", (_, answer) => {
    const { match } = remembering(answer(99), 99, asBytes);
    for (const id of [99, 100, 12_345, 7]) expect(match(answer(id), id)).toBe(RESULT);
  });

  test("is another page with any other byte, or with the id of another request", () => {
    const answer = (id: number, json = RESULT_JSON): string => `{"jsonrpc":"2.0","id":${id},"result":${json}}`;
    const { match } = remembering(answer(10), 10, asBytes);
    expect(match(answer(11, RESULT_JSON.replace("one", "two")), 11)).toBeUndefined();
    expect(match(answer(11, `${RESULT_JSON} `), 11)).toBeUndefined();
    expect(match(answer(12), 11)).toBeUndefined();
    expect(match(answer(10).replace('"id":10', '"id":"10"'), 10)).toBeUndefined();
    expect(match(answer(11), 11)).toBe(RESULT);
  });

  test("is not remembered where the digits that look like the id are something else", () => {
    const inside = (id: number): string => `{"result":{"tools":[],"nested":{"id":${id}}}}`;
    const { match } = remembering(inside(10), 10, asBytes);
    expect(match(inside(11), 11)).toBeUndefined();
    const twice = (id: number): string => `{"id":${id},"result":${RESULT_JSON},"id":5}`;
    expect(remembering(twice(10), 10, asBytes).match(twice(11), 11)).toBeUndefined();
  });

  test("takes no more room than it has", () => {
    const answer = (id: number): string => `{"id":${id},"result":${RESULT_JSON}}`;
    const { page, match } = remembering(answer(1), 1, asBytes);
    page.roomBytes = page.bytes;
    const raw = asBytes ? Buffer.from(answer(2)) : answer(2);
    page.keep(raw, 2, RESULT);
    expect(match(answer(3), 3)).toBe(RESULT);
    page.roomBytes--;
    page.keep(raw, 2, RESULT);
    expect(page.bytes).toBe(0);
    expect(match(answer(3), 3)).toBeUndefined();
  });

  test("is forgotten when it is told to be", () => {
    const answer = `{"id":1,"result":${RESULT_JSON}}`;
    const { page, match } = remembering(answer, 1, asBytes);
    expect(page.bytes).toBe(asBytes ? Buffer.byteLength(answer) : answer.length);
    page.forget();
    expect(page.bytes).toBe(0);
    expect(match(answer, 1)).toBeUndefined();
  });
});
