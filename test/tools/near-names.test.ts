import { describe, expect, test } from "@jest/globals";
import { nearNames } from "../../src/tools/near-names.ts";

describe("near names", () => {
  test("are those with few other characters, or that contain it, whatever their case and separators", () => {
    const names = ["read_file", "readFiles", "write_file", "list", "READ-FILE", "x".repeat(500)];
    expect(nearNames("readfile", names, 5)).toEqual(["read_file", "READ-FILE", "readFiles"]);
    expect(nearNames("rad_file", names, 1)).toEqual(["read_file"]);
    expect(nearNames("quite different", names, 5)).toEqual([]);
    expect(nearNames("raed_file", names, 1)).toEqual(["read_file"]);
  });

  test("are found behind the prefix that many hosts give a tool, the longest first, and by a part of an address", () => {
    const names = ["create", "issue", "a", "create_issue", "demo://resource/static/document/architecture.md"];
    expect(nearNames("mcp__some-long-server-of-a-plugin__create_issue", names, 2)).toEqual(["create_issue", "create"]);
    expect(nearNames("architecture.md", names, 5)).toEqual(["demo://resource/static/document/architecture.md"]);
    expect(nearNames("***", ["one", "two"], 5)).toEqual([]);
  });
});
