import { describe, expect, test } from "@jest/globals";
import { serverEnvironment } from "../../src/transport/environment.ts";

const HOST = { PATH: "/bin", HOME: "/home/me", LC_ALL: "C", SECRET: "s", NAMED: "n", EMPTY: "", GONE: undefined };

describe("the environment of a server", () => {
  test("is the host's with the entry's over it", () => {
    const env = serverEnvironment({ env: { PATH: "/mine", NEW: "1" }, inheritEnv: true }, HOST, "linux");
    expect({ ...env }).toEqual({
      PATH: "/mine",
      HOME: "/home/me",
      LC_ALL: "C",
      SECRET: "s",
      NAMED: "n",
      EMPTY: "",
      NEW: "1",
    });
  });

  test("restricted is the base set, what was named, and the entry's [C10]", () => {
    const env = serverEnvironment({ env: { NEW: "1" }, inheritEnv: ["NAMED"] }, HOST, "linux");
    expect({ ...env }).toEqual({ PATH: "/bin", HOME: "/home/me", LC_ALL: "C", NAMED: "n", NEW: "1" });
    expect({ ...serverEnvironment({ env: {}, inheritEnv: [] }, HOST, "linux") }).toEqual({
      PATH: "/bin",
      HOME: "/home/me",
      LC_ALL: "C",
    });
  });

  test("has one PATH on Windows, whatever its case in the host and the entry [C10]", () => {
    const env = serverEnvironment(
      { env: { PATH: "mine" }, inheritEnv: true },
      { Path: "host", pathext: ".CMD" },
      "win32",
    );
    expect({ ...env }).toEqual({ PATH: "mine", pathext: ".CMD" });
  });

  test("restricted on Windows holds what programs need there, named in any case [C10]", () => {
    const host = {
      Path: "p",
      PathExt: ".EXE",
      ComSpec: "cmd.exe",
      SystemRoot: "C:\\Windows",
      "ProgramFiles(x86)": "x86",
      windir: "C:\\Windows",
      Secret: "s",
      Named: "n",
    };
    const env = serverEnvironment({ env: {}, inheritEnv: ["NAMED"] }, host, "win32");
    expect(Object.keys(env).sort()).toEqual([
      "ComSpec",
      "Named",
      "Path",
      "PathExt",
      "ProgramFiles(x86)",
      "SystemRoot",
      "windir",
    ]);
  });

  test("takes variables of any name as they are", () => {
    const env = serverEnvironment(
      {
        env: Object.fromEntries([
          ["__proto__", "p"],
          ["constructor", "c"],
        ]),
        inheritEnv: [],
      },
      {},
      "linux",
    );
    expect(Object.entries(env)).toEqual([
      ["__proto__", "p"],
      ["constructor", "c"],
    ]);
  });
});
