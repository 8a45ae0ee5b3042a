import { resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { createHost } from "../src/host/host.ts";
import { fromProcessFolder, processFolder } from "../src/process-folder.ts";
import { harnesses } from "./support/plugin-harness.ts";

const make = harnesses();
const GONE = {
  code: "invalid_params",
  message: expect.stringMatching(/^The working directory .* was removed\. Change/),
};

describe("where the process's working directory was removed", () => {
  let cwd: jest.SpiedFunction<typeof process.cwd>;
  beforeEach(() => {
    cwd = jest.spyOn(process, "cwd").mockImplementation(() => {
      throw Object.assign(new Error("ENOENT: no such file or directory, uv_cwd"), { code: "ENOENT" });
    });
  });
  afterEach(() => cwd.mockRestore());

  test("a call whose host names none says so, and what to do", async () => {
    const host = make({ context: { sessionId: "no folder" } });
    expect(await host.failure("mcp_list", {})).toMatchObject(GONE);
    expect(await host.failure("mcp_call", { server: "any", tool: "any" })).toMatchObject(GONE);
  });

  test("a call whose host names another works", async () => {
    const host = make();
    expect((await host.end("mcp_list", { configPath: host.configPath, action: "status" })).tag).toBe("done");
  });

  test("the reference host says so too", async () => {
    const host = createHost();
    cwd.mockRestore();
    await host.load(".");
    cwd = jest.spyOn(process, "cwd").mockImplementation(() => {
      throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
    });
    await expect(host.call("mcp_list", {})).rejects.toMatchObject(GONE);
    await host.shutdown();
  });
});

test("a working directory that the system does not show, as macOS does without permission, is not told as removed", () => {
  const cwd = jest.spyOn(process, "cwd").mockImplementation(() => {
    throw Object.assign(new Error("EPERM: operation not permitted, uv_cwd"), { code: "EPERM" });
  });
  try {
    expect(processFolder).toThrow(
      "The working directory of this process cannot be read (EPERM: operation not permitted, uv_cwd). Change",
    );
  } finally {
    cwd.mockRestore();
  }
});

test("the process's working directory is what Node says", () => {
  expect(processFolder()).toBe(process.cwd());
});

test("a path is absolute from there", () => {
  expect(fromProcessFolder("a/../b")).toBe(resolve("b"));
  expect(fromProcessFolder(resolve("c"))).toBe(resolve("c"));
});
