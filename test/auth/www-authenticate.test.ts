import { describe, expect, it } from "@jest/globals";
import { parseWwwAuthenticate } from "../../src/auth/www-authenticate.ts";

const parse = (value: string): [string, Record<string, string>][] =>
  parseWwwAuthenticate(value).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

describe("a WWW-Authenticate header", () => {
  it.each<[string, [string, Record<string, string>][]]>([
    ["", []],
    ["Bearer", [["bearer", {}]]],
    ['Bearer realm="a, b", scope="x y"', [["bearer", { realm: "a, b", scope: "x y" }]]],
    ["BEARER Scope=read,error=invalid_token", [["bearer", { scope: "read", error: "invalid_token" }]]],
    [
      'Bearer resource_metadata=https://a.example/.well-known/x?y=z , scope="a"',
      [["bearer", { resource_metadata: "https://a.example/.well-known/x?y=z", scope: "a" }]],
    ],
    [
      'Basic realm="x", Bearer scope="a", DPoP algs="ES256"',
      [
        ["basic", { realm: "x" }],
        ["bearer", { scope: "a" }],
        ["dpop", { algs: "ES256" }],
      ],
    ],
    [
      "Negotiate abc==, Bearer",
      [
        ["negotiate", { abc: "=" }],
        ["bearer", {}],
      ],
    ],
    ['Bearer realm="say \\"hi\\" \\\\", scope = "a"', [["bearer", { realm: 'say "hi" \\', scope: "a" }]]],
    ['Bearer scope="first", scope="second"', [["bearer", { scope: "first" }]]],
    [
      'Bearer scope="never closed',
      [
        ["bearer", { scope: "" }],
        ["never", {}],
        ["closed", {}],
      ],
    ],
    ['scope="of nobody", Bearer', [["bearer", {}]]],
    ['Bearer error="insufficient_scope",\r\n  scope="a"', [["bearer", { error: "insufficient_scope", scope: "a" }]]],
  ])("%j", (value, expected) => {
    expect(parse(value)).toEqual(expected);
  });

  it("of any size is read in linear time", () => {
    const start = performance.now();
    parseWwwAuthenticate(`Bearer ${'a="'.repeat(20_000)}`);
    parseWwwAuthenticate(`${"\\".repeat(50_000)}Bearer ${"x".repeat(50_000)}`);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
