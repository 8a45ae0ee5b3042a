import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { harnesses, jsonOf, textOf } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();

/** For tests in which the waits themselves are not the matter. */
const IMPATIENT = { stdinEndMs: 300, terminateMs: 300 };

const onWindows = process.platform === "win32";
// Signals, process groups and sessions as POSIX has them.
const onPosix = onWindows ? describe.skip : describe;

onPosix("the end of server processes", () => {
  test("launchers, helpers and servers that ignore every signal are all gone together within 6 s [C01, C04]", async () => {
    const host = make();
    host.serve("npx", "processes", "launcher").serve("family", "processes", "stubborn-family");
    host.serve("one", "processes", "stubborn").serve("two", "processes", "stubborn");
    const names = ["npx", "family", "one", "two"];
    await Promise.all(names.map((name) => host.call(name, "echo")));
    const pids = names.flatMap((name) => host.pids(name));
    expect(pids).toHaveLength(7);
    const begin = performance.now();
    await host.shutdown();
    expect(performance.now() - begin).toBeLessThan(6000);
    expect(pids.filter(isAlive)).toEqual([]);
    for (const name of ["one", "two"]) {
      const events = host.ledger(name).filter(({ event }) => event === "stdin-end" || event === "signal");
      expect(events.map(({ event, signal }) => signal ?? event)).toEqual(["stdin-end", "SIGTERM"]);
    }
  }, 15_000);

  test.each(["grandchild", "setsid-grandchild"])(
    "a helper that outlives its well-behaved server is ended too (%s)",
    async (mode) => {
      const host = make({ limits: IMPATIENT }).serve("server", "processes", mode);
      await host.call("server", "echo");
      const pids = host.pids("server");
      await host.run("mcp_list", { configPath: host.configPath, server: "server", action: "close" });
      expect(pids).toHaveLength(2);
      expect(pids.filter(isAlive)).toEqual([]);
    },
  );

  test("a well-behaved server is asked by the end of its stdin, and never signalled", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    await host.shutdown();
    expect(host.ledger("plain").at(-1)?.event).toBe("stdin-end");
  });
});

describe("servers that do not start, or crash", () => {
  test("the reason of a failed start is told at once: exit code and stderr [C05]", async () => {
    const host = make().serve("fatal", "processes", "fatal");
    const { code, message, details } = await host.callFailure("fatal", "echo", {}, { timeoutSeconds: 60 });
    expect(code).toBe("connect_failed");
    expect(details).toMatchObject({ server: "fatal", exitCode: 3, signal: null, stderr: "FATAL: missing API_KEY" });
    expect(message).toContain("exit code 3");
    expect(message).toContain("FATAL: missing API_KEY");
    expect(host.pids("fatal")).toHaveLength(1);
  });

  test.each([
    ["fatal-late-stderr", 5, "FATAL: said after stdout ended"],
    ["fatal-by-helper", 6, "FATAL: said by a helper"],
  ])(
    "what comes on stderr after stdout ended still belongs to the diagnostic (%s) [C05]",
    async (mode, exitCode, stderr) => {
      const host = make().serve("late", "processes", mode);
      const { details } = await host.listFailure("late");
      expect(details).toMatchObject({ exitCode, stderr });
    },
  );

  test.each([
    ["a command that does not exist", { command: "no-such-command-anywhere" }],
    ["a path that does not exist", { command: "./no/such/file" }],
    ["a file that is not executable", { command: "{folder}/mcp.json" }],
    ["a folder", { command: "{folder}" }],
  ])("%s is spawn_failed and named", async (_, entry) => {
    const host = make();
    const command = entry.command.replace("{folder}", host.folder);
    host.configure("bad", { command });
    const { code, message, details } = await host.listFailure("bad");
    expect(code).toBe("spawn_failed");
    expect(message).toContain(command);
    expect(details).toMatchObject({ server: "bad", command });
  });

  test.each([
    ["$HOME/bin/no-such-command", "A variable is written ${VAR}."],
    ["%USERPROFILE%\\no-such-command", "A variable is written ${VAR}."],
    ['"no-such-command"', "No shell is involved: leave the quotes out."],
    [" no-such-command", "It begins or ends with a space."],
    ["no-such-command --stdio", "arguments belong in"],
  ])("a command written for a shell is told how it is written here: %s", async (command, hint) => {
    const host = make();
    host.configure("bad", { command });
    expect((await host.listFailure("bad")).message).toContain(hint);
  });

  (onWindows ? test.skip : test).each([
    [
      "without its interpreter",
      "#!/no/such/python3.9\n",
      0o755,
      /is there, but \/no\/such\/python3\.9, .*reinstall it\.$/,
    ],
    ["with Windows line ends", "#!/bin/sh\r\nexit\r\n", 0o755, /is there, but .*carriage return.*Unix line endings\.$/],
    ["that is not executable", "#!/bin/sh\n", 0o644, /is there, but not executable; run chmod \+x on it\.$/],
  ])("a script %s is told by that, and its path is not doubted", async (_, text, mode, said) => {
    const host = make();
    const script = join(host.folder, "a script");
    writeFileSync(script, text, { mode });
    host.configure("bad", { command: script });
    const { code, message } = await host.listFailure("bad");
    expect(code).toBe("spawn_failed");
    expect(message).toMatch(said);
  });

  (onWindows ? test.skip : test)("what is there but is no file is told by that, and is not waited for", async () => {
    const host = make();
    const pipe = join(host.folder, "pipe");
    execFileSync("mkfifo", ["-m", "755", pipe]);
    host.configure("pipe", { command: pipe });
    const { code, message } = await host.listFailure("pipe");
    expect(code).toBe("spawn_failed");
    expect(message).toMatch(/it is not a regular file\.$/);
  });

  test("a working directory that does not exist is spawn_failed and named", async () => {
    const host = make().serve("lost", "processes", "plain", { cwd: "no/such/folder" });
    const { code, message } = await host.listFailure("lost");
    expect(code).toBe("spawn_failed");
    expect(message).toContain("no/such/folder");
    expect(host.ledger("lost")).toEqual([]);
  });

  test.each([
    ["crash", { exitCode: 134, stderr: "panic: out of memory" }],
    ["half", { exitCode: 0 }],
    ["signal", onWindows ? { exitCode: 1, signal: null } : { exitCode: null, signal: "SIGKILL" }],
  ])("a crash during a call is told promptly as outcome unknown and never repeated (%s) [C07]", async (tool, facts) => {
    const host = make().serve("crash", "processes", "crash");
    const { code, message, details } = await host.callFailure("crash", tool, {}, { timeoutSeconds: 60 });
    expect(code).toBe("closed");
    expect(message).toMatch(/outcome unknown/i);
    expect(details).toMatchObject({ server: "crash", method: "tools/call", outcomeUnknown: true, ...facts });
    expect(host.ledger("crash").filter(({ event }) => event === "effect")).toHaveLength(1);
    expect(textOf(await host.call("crash", "fine"))).toBe("fine");
    expect(host.pids("crash")).toHaveLength(2);
    expect(host.received("crash", "tools/call")).toHaveLength(2);
  });

  test.each(["close-stdout", "close-stdin"])(
    "a server that closes one of its pipes is dropped and ended (%s)",
    async (tool) => {
      const host = make().serve("crash", "processes", "crash");
      const end = host.callStep("crash", tool, {}, { timeoutSeconds: 60 });
      if (tool === "close-stdin") {
        // Nothing tells us of a closed stdin until something is written.
        await waitFor("the call is running", () => host.ledger("crash").some(({ event }) => event === "effect"));
        await host.end("mcp_call", { ...host.callParams("crash", "fine"), timeoutSeconds: 60 });
      }
      await end.settled;
      expect(end.poll()).toMatchObject({ tag: "err", code: "closed", details: { outcomeUnknown: true } });
      end.destroy();
      expect(textOf(await host.call("crash", "fine"))).toBe("fine");
      const [first] = host.pids("crash");
      await waitFor("the first process is gone", () => !isAlive(first ?? 0));
    },
    15_000,
  );

  test("a server that left while it was idle is started again by the next call", async () => {
    const host = make().serve("idle", "processes", "leaves-when-idle");
    await host.call("idle", "last");
    await waitFor("it has left", () => host.pids("idle").every((pid) => !isAlive(pid)));
    expect(textOf(await host.call("idle", "fine"))).toBe("fine");
    expect(host.pids("idle")).toHaveLength(2);
  });

  test("stderr is drained, and its newest 8 KiB are kept, cut at a character border [C09]", async () => {
    const host = make().serve("chatty", "processes", "stderr-flood");
    expect(textOf(await host.call("chatty", "echo"))).toBe("called");
    const { details, message } = await host.callFailure("chatty", "echo", { crash: true });
    const stderr = String(details?.["stderr"]);
    expect(stderr.endsWith("üüüNEWEST")).toBe(true);
    expect(Buffer.byteLength(stderr)).toBeLessThanOrEqual(8192);
    expect(Buffer.byteLength(stderr)).toBeGreaterThan(8000);
    expect(stderr).not.toContain("\ufffd");
    const shown = message.slice(message.indexOf("Its stderr ends:\n") + 17);
    expect(stderr.endsWith(shown.slice(1)) && shown.startsWith("…")).toBe(true);
    expect(shown.length).toBe(2001);
  }, 15_000);

  test("a server that never answers initialize times out as such, is ended, and is not sent a cancellation [C14]", async () => {
    const host = make().serve("silent", "processes", "silent").serve("good", "processes", "plain");
    const silent = host.callStep("silent", "echo", {}, { timeoutSeconds: 1 });
    expect(textOf(await host.call("good", "echo", { text: "not blocked" }))).toBe("not blocked");
    await silent.settled;
    expect(silent.poll()).toMatchObject({
      tag: "err",
      code: "timeout",
      details: { method: "initialize", phase: "connect", outcomeUnknown: false },
    });
    silent.destroy();
    await waitFor("the silent server is gone", () => host.pids("silent").every((pid) => !isAlive(pid)));
    const said = host
      .ledger("silent")
      .filter(({ event }) => event === "data")
      .map(({ text }) => String(text));
    expect(said.join("")).toMatch(/"initialize"/);
    expect(said.join("")).not.toContain("cancelled");
    const again = host.callStep("silent", "echo");
    await waitFor("it is started again", () => host.pids("silent").length === 2);
    again.destroy();
  }, 15_000);

  test("a slow start is waited for [C14]", async () => {
    const host = make().serve("slow", "processes", "slow-start");
    expect(textOf(await host.call("slow", "echo", { text: "at last" }))).toBe("at last");
  }, 15_000);
});

describe("the environment of a server", () => {
  /** Windows has its own spelling. */
  const pathIn = (env: Readonly<Record<string, unknown>>): unknown =>
    Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1];

  test("the host's environment arrives and the entry's env wins [C10]", async () => {
    process.env["HARNESS_GIVEN"] = "from the host";
    process.env["HARNESS_BOTH"] = "from the host";
    try {
      const host = make().serve("env", "processes", "env", {
        env: { HARNESS_BOTH: "from the entry", HARNESS_OWN: "own" },
      });
      const env = jsonOf(await host.call("env", "env"));
      expect(env).toMatchObject({
        HARNESS_GIVEN: "from the host",
        HARNESS_BOTH: "from the entry",
        HARNESS_OWN: "own",
      });
      expect(pathIn(env)).toBe(process.env["PATH"]);
    } finally {
      delete process.env["HARNESS_GIVEN"];
      delete process.env["HARNESS_BOTH"];
    }
  });

  test.each([
    [false, []],
    [["HARNESS_NAMED"], ["HARNESS_NAMED"]],
  ])("with inheritEnv %j only the base set and what was named arrive [C10]", async (inheritEnv, expected) => {
    process.env["HARNESS_NAMED"] = "named";
    process.env["HARNESS_SECRET"] = "hidden";
    try {
      const host = make().serve("env", "processes", "env", { inheritEnv, env: { OWN: "1" } });
      const env = jsonOf(await host.call("env", "env"));
      const base = new Set([
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "TERM",
        "TMPDIR",
        "LANG",
        "TZ",
        "LEDGER",
        "OWN",
      ]);
      const beyond = Object.keys(env).filter((name) => !base.has(name) && !name.startsWith("LC_"));
      // What Windows programs need is more.
      expect(beyond.filter((name) => !onWindows || name.startsWith("HARNESS_"))).toEqual(expected);
      expect(pathIn(env)).toBe(process.env["PATH"]);
      expect(env["OWN"]).toBe("1");
    } finally {
      delete process.env["HARNESS_NAMED"];
      delete process.env["HARNESS_SECRET"];
    }
  });

  test("a server starts in the host's folder, or in the entry's, relative to the config file", async () => {
    const host = make().write("sub/file", "");
    host.serve("here", "processes", "plain").serve("there", "processes", "plain", { cwd: "sub" });
    await Promise.all([host.list("here"), host.list("there")]);
    expect(host.ledger("here").find(({ event }) => event === "start")?.["cwd"]).toBe(host.folder);
    expect(host.ledger("there").find(({ event }) => event === "start")?.["cwd"]).toBe(join(host.folder, "sub"));
  });

  test("arguments arrive verbatim, whatever a shell would make of them [C12]", async () => {
    const args = ["a b", 'c"d', "%PATH%", "x&y", "$HOME", "`id`", "; exit 1", "^", "*", "", "'", "\\", "é\n"];
    const host = make();
    host.serve("plain", "processes", "plain");
    host.configure("quoted", {
      command: process.execPath,
      args: [`${import.meta.dirname}/../fixtures/servers/processes.mjs`, "plain", ...args],
      env: { LEDGER: `${host.folder}/quoted.ledger` },
    });
    await host.list("quoted");
    expect(host.ledger("quoted").find(({ event }) => event === "start")?.["argv"]).toEqual(["plain", ...args]);
  });
});
