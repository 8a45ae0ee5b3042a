import { describe, expect, it } from "@jest/globals";
import { Redactor } from "../src/redactor.ts";

const SECRET = "sekret-abcdef-123456";

describe("the redactor", () => {
  const redactor = new Redactor();
  redactor.add([SECRET, "short"]);

  it("masks a secret in its plain, URL-encoded and JSON-escaped spelling", () => {
    redactor.add(['a "quoted" secret', "with/slash+plus"]);
    expect(redactor.text(`x ${SECRET} y`)).toBe("x [redacted] y");
    expect(redactor.text(encodeURIComponent("with/slash+plus"))).toBe("[redacted]");
    expect(redactor.text(JSON.stringify('a "quoted" secret'))).toBe('"[redacted]"');
  });

  it("leaves values of fewer than eight characters alone: they are ordinary words", () => {
    expect(redactor.text("a short story")).toBe("a short story");
  });

  it("knows the newest 4096 secrets, and forgets the oldest for one more", () => {
    const full = new Redactor();
    const secrets = Array.from({ length: 4097 }, (_, at) => `secret-${String(at).padStart(4, "0")}`);
    full.add(secrets.slice(0, 4096));
    expect(full.text("secret-0000")).toBe("[redacted]");
    full.add(secrets.slice(1));
    expect(full.text("secret-0000 secret-0001 secret-4096")).toBe("secret-0000 [redacted] [redacted]");
  });

  it("masks values and keys at every depth", () => {
    expect(redactor.data({ a: [{ [SECRET]: SECRET }] })).toEqual({ a: [{ "[redacted]": "[redacted]" }] });
  });

  it("leaves out what is excepted only at the top, where it is ours to name", () => {
    const data = { mcpResult: { text: SECRET }, rpcError: { data: { mcpResult: SECRET } } };
    expect(redactor.data(data, new Set(["mcpResult"]))).toEqual({
      mcpResult: { text: SECRET },
      rpcError: { data: { mcpResult: "[redacted]" } },
    });
  });
});
