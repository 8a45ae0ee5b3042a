import { describe, expect, it } from "@jest/globals";
import { AdapterError, isAdapterError, reasonOf, toFailure } from "../src/errors.ts";

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const ODD: readonly [string, unknown][] = [
  ["an object without a prototype", Object.create(null)],
  ["a revoked proxy", revoked.proxy],
  ["a symbol", Symbol("x")],
  ["nothing", undefined],
  [
    "an error whose message throws",
    Object.defineProperty(new Error("x"), "message", {
      get() {
        throw new TypeError("no");
      },
    }),
  ],
];

describe("whatever was thrown", () => {
  it.each(ODD)("has a reason and a failure that can be told, also %s", (_name, thrown) => {
    expect(typeof reasonOf(thrown)).toBe("string");
    expect(isAdapterError(thrown)).toBe(false);
    expect(toFailure(thrown)).toMatchObject({ code: "internal" });
  });

  it("is recognised by its brand, whichever copy of the package made it", () => {
    const foreign = { [Symbol.for("rpi-mcp-adapter.error")]: true, code: "timeout", message: "m", details: {} };
    expect(isAdapterError(foreign)).toBe(true);
    expect(toFailure(foreign)).toEqual({ code: "timeout", message: "m", details: {} });
    expect(isAdapterError(new AdapterError("destroyed", {}))).toBe(true);
    for (const one of [foreign, new AdapterError("destroyed", {})]) expect(one).toBeInstanceOf(AdapterError);
    expect(new Error("x")).not.toBeInstanceOf(AdapterError);
  });
});

const ESCAPE = "\u001b]0;pwned\u0007\u001b[31m";

it.each([
  new AdapterError("rpc.error", { server: "s", method: "x/y", rpcError: { code: 1, message: `no${ESCAPE} licence` } }),
  new AdapterError("config.entry", { server: "s", configPath: "/c", field: `headers.X${ESCAPE}`, reason: "is bad" }),
  new AdapterError("spawn.cwd", { server: "s", cwd: `/no${ESCAPE}` }),
  new AdapterError("tool.failed", { server: "s", tool: "t", text: `${ESCAPE}red`, mcpResult: {} }),
])("what a server says, and a file's words, cannot steer the terminal of a host that prints $situation", (error) => {
  expect(error.message).not.toMatch(/\p{Cc}|pwned/u);
});
