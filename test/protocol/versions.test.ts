import { describe, expect, test } from "@jest/globals";
import {
  declarable,
  isHandshake,
  isServerRequest,
  OFFERED,
  otherHandshake,
  REVISIONS,
  revisionKnows,
  SELF_DESCRIBING,
} from "../../src/protocol/versions.ts";

describe("the revisions", () => {
  test("are five, four of them with a handshake", () => {
    expect(REVISIONS).toEqual(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    expect(REVISIONS.filter(isHandshake)).toEqual(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
    expect([OFFERED, SELF_DESCRIBING]).toEqual(["2025-11-25", "2026-07-28"]);
    for (const other of ["1999-01-01", "2025-11-24", "", "draft"]) expect(isHandshake(other)).toBe(false);
  });

  test("know their own methods; methods that no revision names are the server's to judge", () => {
    const knowing = (method: string): string[] => REVISIONS.filter((revision) => revisionKnows(revision, method));
    expect(knowing("tools/call")).toEqual(REVISIONS);
    expect(knowing("ping")).toEqual(REVISIONS.slice(0, 4));
    expect(knowing("server/discover")).toEqual(["2026-07-28"]);
    expect(knowing("tasks/get")).toEqual(["2025-11-25"]);
    expect(knowing("vendor/method")).toEqual(REVISIONS);
    expect(
      ["roots/list", "sampling/createMessage", "elicitation/create", "tools/list"].filter(isServerRequest),
    ).toHaveLength(3);
  });

  test("declare only what they have", () => {
    const all = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };
    const declared = REVISIONS.map((revision) => declarable(all, revision)["elicitation"]);
    expect(declared).toEqual([undefined, undefined, {}, all.elicitation, all.elicitation]);
    for (const revision of REVISIONS) expect(declarable(all, revision)).toMatchObject({ roots: {}, sampling: {} });
    expect(declarable({ roots: {} }, "2025-06-18")).toEqual({ roots: {} });
  });

  test("the newest that a server names and that was not refused is the next to try", () => {
    expect(otherHandshake(["2024-11-05", "2025-06-18", "2026-07-28"])).toBe("2025-06-18");
    expect(otherHandshake(["2024-11-05", "2025-11-25"])).toBe("2024-11-05");
    expect(otherHandshake(["1999-01-01", 5, null])).toBeUndefined();
  });
});
