import { describe, expect, it } from "@jest/globals";
import { CHECKED_ELSEWHERE, loadShapeCheck } from "../../src/config/shape.ts";
import { mcpConfig } from "../../src/validation/compiled.js";

const VALUES = [
  null,
  true,
  0,
  1.5,
  "",
  "text",
  "stdio",
  [],
  [""],
  ["text"],
  [1],
  [null],
  {},
  { KEY: "text" },
  { KEY: "" },
  { KEY: 1 },
  { KEY: false },
  { KEY: null },
  { KEY: ["text"] },
];
const FIELDS = [
  ...["command", "args", "env", "cwd", "url", "headers", "enabled", "disabled"],
  ...["inheritEnv", "oauth", "protocol", "exposure", "autoApprove", "stopOnCancel", "includeTools", "excludeTools"],
  ...["maxResultBytes"],
  ...["unknown", "constructor", "toString"],
];

/** Entries of one field and of two, with every value. */
function entries(): object[] {
  const single = FIELDS.flatMap((field) => VALUES.map((value) => ({ [field]: value })));
  return [{}, ...single, ...single.map((entry) => ({ command: "program", args: [], ...entry }))];
}

describe("the check of an entry's shape", () => {
  it("says the same whether or not an entry is usual enough to do without the compiled schema", async () => {
    let refused = 0;
    for (const entry of entries()) {
      const flaw = (await loadShapeCheck([entry]))(entry);
      if (flaw !== undefined) refused++;
      expect({ entry, right: flaw === undefined }).toEqual({
        entry,
        right: mcpConfig({ mcpServers: { entry } }),
      });
    }
    expect(refused).toBeGreaterThan(200);
  });

  it("holds for a part of an entry, and leaves to others what is theirs", async () => {
    const usual = { command: "program", env: { KEY: "text" } };
    const elsewhere = Object.fromEntries(CHECKED_ELSEWHERE.map((field) => [field, []]));
    const flawed = { ...usual, ...elsewhere, env: { KEY: [] } };
    const check = await loadShapeCheck([usual, "no object", flawed]);
    expect(check(usual)).toBeUndefined();
    expect(check({ env: flawed.env })).toEqual({
      field: "env.KEY",
      reason: expect.stringContaining("must be a string"),
    });
    expect((await loadShapeCheck([{ ...usual, ...elsewhere }]))(usual)).toBeUndefined();
  });
});
