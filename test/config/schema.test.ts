import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { SERVER_FIELDS } from "../../src/config/check.ts";
import { DIALECTS } from "../../src/config/imports/read.ts";
import { LIMITS } from "../../src/limits.ts";
import { REVISIONS } from "../../src/protocol/versions.ts";

type Schema = { readonly [key: string]: unknown; readonly properties: Readonly<Record<string, Schema>> };

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const schema = JSON.parse(read("schemas/mcp-config.schema.json")) as Schema;
const server = (schema.$defs as { server: Schema }).server;
const oauth = server.properties.oauth as Schema;
const page = read("docs/config.md");

/** The names in the first column of the table under a heading. */
function documented(heading: string, text: string = page): string[] {
  const [, section = ""] = text.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [table = ""] = section.split(/^#+ /m);
  return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name ?? "");
}

describe("the fields whose misspellings are reported", () => {
  it("are the schema's", () => {
    expect([...SERVER_FIELDS].sort()).toEqual(Object.keys(server.properties).sort());
  });
});

describe("docs/config.md", () => {
  it.each([
    ["Fields of a file", schema],
    ["Fields of a server", server],
  ])("%s: its table has the schema's fields", (heading, { properties }) => {
    expect(documented(heading).sort()).toEqual(Object.keys(properties).sort());
  });

  it("leaves the fields of oauth to docs/sign-in.md, whose table has the schema's", () => {
    expect(page).toContain("(sign-in.md#fields-of-oauth)");
    expect(documented("Fields of `oauth`", read("docs/sign-in.md")).sort()).toEqual(
      Object.keys(oauth.properties).sort(),
    );
  });

  it("names every tool that can be imported", () => {
    expect(documented("Other tools")).toEqual(DIALECTS);
  });

  it("names where the package holds the schema", () => {
    const [, path = ""] = /"\$schema": "\.\/node_modules\/rpi-mcp-adapter\/([^"]+)"/.exec(page) ?? [];
    expect(JSON.parse(read(path))).toEqual(schema);
  });
});

describe("the schema", () => {
  it("describes every field, for editors", () => {
    const silent: string[] = [];
    const walk = (path: string, { properties = {} }: Partial<Schema>): void => {
      for (const [name, field] of Object.entries(properties)) {
        if (typeof field.description !== "string") silent.push(`${path}${name}`);
        walk(`${path}${name}.`, field);
      }
    };
    walk("", schema);
    walk("server.", server);
    expect(silent).toEqual([]);
  });

  it("knows the revisions, the tools to import and the limits that the code knows", () => {
    const { protocol, timeout, timeout_ms, timeoutMs, maxTotalSeconds } = server.properties;
    expect(protocol?.enum).toEqual(["auto", ...REVISIONS]);
    expect(schema.properties.imports).toMatchObject({ items: { enum: DIALECTS } });
    expect(timeout).toMatchObject({
      minimum: LIMITS.minTimeoutSeconds,
      maximum: LIMITS.maxTimeoutSeconds,
      default: LIMITS.defaultTimeoutSeconds,
    });
    for (const field of [timeout_ms, timeoutMs]) {
      expect(field).toMatchObject({
        minimum: LIMITS.minTimeoutSeconds * 1000,
        maximum: LIMITS.maxTimeoutSeconds * 1000,
      });
    }
    expect(maxTotalSeconds).toMatchObject({ maximum: LIMITS.maxTotalSeconds, default: LIMITS.defaultTotalSeconds });
    expect(schema.properties.maxResultBytes).toMatchObject({ default: LIMITS.resultBytes });
  });
});
