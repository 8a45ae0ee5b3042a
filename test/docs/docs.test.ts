import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { LIMITS } from "../../src/limits.ts";
import { SENTENCES } from "../../src/messages.ts";
import { VERSION } from "../../src/version.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pages = ["README.md", "CHANGELOG.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith(".md"),
);

describe("the documentation", () => {
  it("has one row for every error code, and for nothing else", () => {
    const documented = [...read("docs/errors.md").matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    const used = [...new Set(Object.values(SENTENCES).map(({ code }) => code))];
    expect([...documented].sort()).toEqual([...used].sort());
  });

  it("has one row for every limit, with its value", () => {
    const documented = [...read("docs/limits.md").matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, name, value]) => [
      name,
      Number(value),
    ]);
    expect(Object.fromEntries(documented)).toEqual(LIMITS);
  });

  it("links only to files that exist", () => {
    const broken: string[] = [];
    for (const page of pages) {
      for (const [, target = ""] of read(page).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        try {
          readFileSync(join(root, normalize(join(dirname(page), target))));
        } catch {
          broken.push(`${page} -> ${target}`);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  it("shows servers the version of the package", () => {
    expect((JSON.parse(read("package.json")) as { version: string }).version).toBe(VERSION);
  });
});
