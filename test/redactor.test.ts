import { createHash } from "node:crypto";
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

  it("masks a secret that a quotation has brought onto one line", () => {
    redactor.add(["-----BEGIN KEY-----\nabc\n\ndef\n"]);
    expect(redactor.text("It says: -----BEGIN KEY----- abc def")).toBe("It says: [redacted]");
  });

  it("masks the lines of a secret that are shown one by one, or with other line ends", () => {
    redactor.add(["-----BEGIN SOME KEY-----\r\nMIIEvQIBADANBg\r\nkqhkiG9w0BAQEF==\r\n"]);
    expect(redactor.text("log: MIIEvQIBADANBg\nlog: kqhkiG9w0BAQEF==")).toBe("log: [redacted]\nlog: [redacted]");
    expect(redactor.text("-----BEGIN SOME KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF==\n")).toBe(
      "[redacted]\n[redacted]\n[redacted]\n",
    );
  });

  it("masks what a cut has left of a secret, in every spelling", () => {
    redactor.add(["cut/short+secret"]);
    expect(redactor.text("x sekret-abc…")).toBe("x [redacted]…");
    expect(redactor.text("…def-123456 x")).toBe("…[redacted] x");
    expect(redactor.text("…def-123456 x sekret-abcdef-12345… (99 characters)")).toBe(
      "…[redacted] x [redacted]… (99 characters)",
    );
    expect(redactor.text("x cut%2Fshort%2…")).toBe("x [redacted]…");
  });

  it("leaves pieces alone that no cut has made, or that are too short for more than a word", () => {
    for (const text of [
      "sekret-abc",
      "sekret-abc …",
      "sekret-abd…",
      "sekre…",
      "… def-123456",
      "…23456",
      "…",
      "def-12…",
    ])
      expect(redactor.text(text)).toBe(text);
  });

  it("masks secrets that overlap as one, the longest piece included", () => {
    const several = new Redactor();
    several.add(["token-abc", "token-abc-token-xyz", "token-xyzzy", "xyzzy-and-more"]);
    expect(several.text("a token-abc-token-xyz b")).toBe("a [redacted] b");
    expect(several.text("a token-abc-token-xy…")).toBe("a [redacted]…");
    expect(several.text("a token-xyzzy-and-more b")).toBe("a [redacted] b");
    expect(several.text("token-abctoken-abc")).toBe("[redacted][redacted]");
  });

  it("finds the longest piece of a secret that repeats itself", () => {
    const repeating = new Redactor();
    repeating.add(["abcabcabcabd"]);
    expect(repeating.text("abcabcabcabcab…")).toBe("abc[redacted]…");
    expect(repeating.text("abcabcabcabcabdx…")).toBe("abc[redacted]x…");
    expect(repeating.text("…cabcabd…cabcabcabd")).toBe("…[redacted]…[redacted]");
    expect(repeating.text("…abcabcabcabcabd")).toBe("…abc[redacted]");
  });

  it("masks a secret that has no URL spelling too, and what stands beside it", () => {
    const odd = new Redactor();
    odd.add(["half-\ud83c-character", SECRET]);
    expect(odd.text(`a half-\ud83c-character, ${SECRET} b`)).toBe("a [redacted], [redacted] b");
  });

  it("takes no longer for a short text where a server has chosen a secret of a megabyte", () => {
    const long = new Redactor();
    long.add([`tokenX${"ab".repeat(500_000)}`]);
    long.text("tokenX");
    const begin = performance.now();
    for (let at = 0; at < 50; at++) expect(long.text(`tokenX ${at}, tokenXabab… and …abab`)).toContain("tokenX");
    expect(performance.now() - begin).toBeLessThan(1000);
    expect(long.text("tokenXabab… and …ababab")).toBe("[redacted]… and …[redacted]");
  });

  it("takes linear time, whatever text and secret a server has chosen", () => {
    const chosen = new Redactor();
    chosen.add([SECRET, `${"a".repeat(200_000)}b`, `b${"a".repeat(200_000)}`]);
    const begin = process.cpuUsage();
    const pieces = `${SECRET.slice(0, 8)}…`.repeat(200_000);
    expect(chosen.text(pieces)).toBe("[redacted]…".repeat(200_000));
    for (const text of [`${"a".repeat(200_000)}c…`, `…c${"a".repeat(200_000)}`]) expect(chosen.text(text)).toBe(text);
    expect(msSince(begin)).toBeLessThan(3000);
  });

  it("looks through a large text in a moment, however many secrets it knows", () => {
    const many = new Redactor();
    many.add(Array.from({ length: 4096 }, (_, at) => createHash("sha256").update(String(at)).digest("base64")));
    const secret = createHash("sha256").update("7").digest("base64");
    const words = Array.from({ length: 16_384 }, (_, at) => createHash("sha256").update(`word ${at}`).digest("hex"));
    const text = words.join(" ");
    const begin = process.cpuUsage();
    expect(many.text(`${text} ${secret} x ${secret.slice(0, 20)}… …${secret.slice(-20)}`)).toBe(
      `${text} [redacted] x [redacted]… …[redacted]`,
    );
    expect(msSince(begin)).toBeLessThan(1500);
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

it("masks many pieces of many secrets that begin alike in bounded time and memory", () => {
  const redactor = new Redactor();
  redactor.add(Array.from({ length: 90 }, (_, at) => `secret${at + 10}`));
  const begin = process.cpuUsage();
  expect(redactor.text("secret…".repeat(150_000))).toBe("[redacted]…".repeat(150_000));
  expect(msSince(begin)).toBeLessThan(6000);
});

/** Of computing: the clock runs on while other processes have their turn. */
function msSince(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}
