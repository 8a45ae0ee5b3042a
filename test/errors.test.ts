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
