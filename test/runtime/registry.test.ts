import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { HostServices, StepHandle } from "../../src/contract.ts";
import { type FaultExchange, FaultServer } from "../support/http-fault-server.ts";
import { harnesses, jsonOf, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();
function closing({ configPath }: PluginHarness, server: string): Record<string, unknown> {
  return { configPath, server, action: "close" };
}

const IMPATIENT = { stdinEndMs: 300, terminateMs: 300 };

describe("connections", () => {
  test("are made once for parallel first calls: one process, one handshake [J08]", async () => {
    const host = make().serve("plain", "processes", "plain");
    const texts = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => textOf(await host.call("plain", "echo", { text: String(at) }))),
    );
    expect(texts).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    expect(host.pids("plain")).toHaveLength(1);
    expect(host.received("plain", "initialize")).toHaveLength(1);
    expect(host.received("plain", "tools/list").length).toBeLessThanOrEqual(2);
    expect(host.received("plain", "tools/call")).toHaveLength(10);
  });

  test("that fail fail all who wait for them, once, and leave nothing behind; the next call starts afresh [J08]", async () => {
    const host = make().serve("fatal", "processes", "fatal");
    const failures = await Promise.all(Array.from({ length: 10 }, () => host.callFailure("fatal", "x")));
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(["connect_failed"]));
    expect(host.pids("fatal")).toHaveLength(1);
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toEqual({ connections: [] });
    await host.callFailure("fatal", "x");
    expect(host.pids("fatal")).toHaveLength(2);
    host.serve("fatal", "processes", "plain");
    expect(textOf(await host.call("fatal", "echo", { text: "repaired" }))).toBe("repaired");
  });

  test("time out for each caller alone, and go on for the others", async () => {
    const host = make().serve("slow", "timing", "slow-initialize 1500");
    const impatient = host.callFailure("slow", "echo", {}, { timeoutSeconds: 1 });
    const patient = host.call("slow", "echo", { text: "patient" });
    expect(await impatient).toMatchObject({ code: "timeout", details: { method: "initialize" } });
    expect(textOf(await patient)).toBe("patient");
    expect(host.pids("slow")).toHaveLength(1);
  });

  test("are refused beyond the limit, with the way to free one, and one that is freed can be used [J08]", async () => {
    const host = make({ limits: { connections: 3 } });
    for (const name of ["a", "b", "c", "d"]) host.serve(name, "processes", "plain");
    await Promise.all(["a", "b", "c"].map((name) => host.call(name, "echo")));
    const { code, message, details } = await host.callFailure("d", "echo");
    expect(code).toBe("limit_exceeded");
    expect(message).toContain("3");
    expect(message).toContain('"action":"close"');
    expect(details).toMatchObject({ limit: 3, open: ["a", "b", "c"] });
    expect(host.ledger("d")).toEqual([]);
    await host.call("a", "echo");
    await host.run("mcp_list", { configPath: host.configPath, server: "b", action: "close" });
    await host.call("d", "echo");
    expect((await host.callFailure("b", "echo")).code).toBe("limit_exceeded");
  });

  test("says so where all that are open are those of other sessions", async () => {
    const host = make({ limits: { connections: 1 } }).serve("a", "processes", "plain");
    await host.call("a", "echo");
    const other = { cwd: host.folder, sessionId: "another" };
    const own = host.context;
    host.context = other;
    const { code, message } = await host.callFailure("a", "echo");
    expect([code, message]).toEqual(["limit_exceeded", expect.stringMatching(/all by other sessions\. One is freed/)]);
    host.context = own;
    await host.run("mcp_list", { configPath: host.configPath, server: "a", action: "close" });
    host.context = other;
    await host.call("a", "echo");
  });

  test("to 65 servers at once: 64 work, and the 65th is told the limit [J08]", async () => {
    const host = make();
    const names = Array.from({ length: 65 }, (_, at) => `server-${at}`);
    for (const name of names) host.serve(name, "processes", "plain");
    const ends = await Promise.all(names.map((name) => host.end("mcp_call", host.callParams(name, "echo"))));
    expect(ends.filter(({ tag }) => tag === "done")).toHaveLength(64);
    expect(ends.filter((end) => end.tag === "err")).toMatchObject([{ code: "limit_exceeded", details: { limit: 64 } }]);
    const begin = performance.now();
    await host.shutdown();
    expect(performance.now() - begin).toBeLessThan(6000);
  }, 60_000);

  test("that failed do not count", async () => {
    const host = make({ limits: { connections: 2 } })
      .serve("fatal", "processes", "fatal")
      .serve("one", "processes", "plain")
      .serve("two", "processes", "plain");
    for (let round = 0; round < 3; round++) await host.callFailure("fatal", "x");
    await host.call("one", "echo");
    await host.call("two", "echo");
  });
});

describe("a connection belongs to a session, a project or the program", () => {
  test("two sessions never share one", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    host.context = { cwd: host.folder, sessionId: "second" };
    await host.call("plain", "echo");
    expect(host.pids("plain")).toHaveLength(2);
  });

  test("one project reached by two paths is one, and without any context it is the program's", async () => {
    const host = make().serve("plain", "processes", "plain");
    mkdirSync(join(host.folder, "sub"));
    host.context = { cwd: host.folder };
    await host.call("plain", "echo");
    host.context = { cwd: join(host.folder, "sub", "..") };
    await host.call("plain", "echo");
    expect(host.pids("plain")).toHaveLength(1);
    host.context = {};
    await host.call("plain", "echo");
    await host.call("plain", "echo");
    expect(host.pids("plain")).toHaveLength(2);
  });

  test("one file reached by two paths is one", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    await host.run("mcp_call", { server: "plain", configPath: "mcp.json", tool: "echo" });
    await host.run("mcp_call", { server: "plain", configPath: "./x/../mcp.json", tool: "echo" });
    expect(host.pids("plain")).toHaveLength(1);
  });
});

describe("a program of which only one can run", () => {
  test("is gone before the next call starts it again, where it is being stopped", async () => {
    const host = make({ limits: IMPATIENT }).serve("one", "timing", "exclusive", { stopOnCancel: true });
    const step = host.callStep("one", "echo", { text: "hang" });
    await waitFor("the call has arrived", () => host.received("one", "tools/call").length === 1);
    step.cancel();
    step.destroy();
    expect(textOf(await host.call("one", "echo", { text: "next" }))).toBe("next");
  });

  test("is gone before it is started with other settings, where nobody uses it any more", async () => {
    const host = make({ limits: IMPATIENT }).serve("one", "timing", "exclusive");
    expect(textOf(await host.call("one", "echo", { text: "first" }))).toBe("first");
    host.serve("one", "timing", "exclusive", { env: { CHANGED: "1" } });
    expect(textOf(await host.call("one", "echo", { text: "next" }))).toBe("next");
  });

  test("is not started again for calls that are given up meanwhile, at whatever moment, and can be closed", async () => {
    const host = make({ limits: IMPATIENT }).serve("one", "timing", "exclusive", { stopOnCancel: true });
    const step = host.callStep("one", "echo", { text: "hang" });
    await waitFor("the call has arrived", () => host.received("one", "tools/call").length === 1);
    step.cancel();
    step.destroy();
    for (let turns = 0; turns < 6; turns++) {
      const next = host.callStep("one", "echo", { text: "next" });
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      next.cancel();
      expect(next.poll()).toMatchObject({ tag: "err", code: "cancelled" });
      next.destroy();
    }
    await host.run("mcp_list", closing(host, "one"));
    expect(host.pids("one")).toHaveLength(1);
    expect(textOf(await host.call("one", "echo", { text: "again" }))).toBe("again");
  });
});

describe("a change of the config", () => {
  test("that changes an entry replaces its connection at the next call, and only its", async () => {
    const host = make().serve("changed", "processes", "plain").serve("same", "processes", "plain");
    await Promise.all([host.call("changed", "echo"), host.call("same", "echo")]);
    host.serve("changed", "processes", "plain", { env: { NEW: "1" } });
    await Promise.all([host.call("changed", "echo"), host.call("same", "echo")]);
    expect(host.pids("changed")).toHaveLength(2);
    expect(host.pids("same")).toHaveLength(1);
    const [first] = host.pids("changed");
    await waitFor("the first process is gone", () => !isAlive(first ?? 0));
  });

  test("of what a connection does not depend on keeps it", async () => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    host.serve("plain", "processes", "plain", { timeout: 30, excludeTools: ["none"] });
    await host.call("plain", "echo");
    expect(host.pids("plain")).toHaveLength(1);
  });

  test.each([
    ["enabled: false", { enabled: false }, "server_disabled"],
    ["disabled: true", { disabled: true }, "server_disabled"],
  ])("that sets %s closes the connection, and calls are refused", async (_, entry, expected) => {
    const host = make().serve("plain", "processes", "plain");
    await host.call("plain", "echo");
    host.serve("plain", "processes", "plain", entry);
    expect((await host.callFailure("plain", "echo")).code).toBe(expected);
    await waitFor("its process is gone", () => host.pids("plain").every((pid) => !isAlive(pid)));
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toEqual({ connections: [] });
  });

  test("that removes an entry closes its connection", async () => {
    const host = make().serve("plain", "processes", "plain").serve("other", "processes", "plain");
    await host.call("plain", "echo");
    host.configure("plain", undefined);
    await host.list("other");
    await waitFor("its process is gone", () => host.pids("plain").every((pid) => !isAlive(pid)));
    expect((await host.callFailure("plain", "echo")).code).toBe("server_not_found");
  });

  test.each([
    ["deletes the named file", "mcp.json", { configPath: "mcp.json" }],
    ["deletes one of the usual files", ".mcp.json", {}],
    ["takes back the import of another tool's file", ".pi/mcp.json", {}],
  ])("that %s closes its connections as soon as no call uses them", async (_, path, where) => {
    const host = make({ trust: "always", limits: IMPATIENT }).serve("hang", "timing", "hang");
    const written = readFileSync(host.configPath, "utf8");
    if (path === ".mcp.json") host.write(path, written);
    if (path === ".pi/mcp.json") host.write(path, { imports: ["cursor"] }).write(".cursor/mcp.json", written);
    const running = host.step("mcp_call", { ...where, server: "hang", tool: "hang" });
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    rmSync(join(host.folder, path));
    await host.end("mcp_list", where);
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toEqual({ connections: [] });
    expect((await host.failure("mcp_call", { ...where, server: "hang", tool: "echo" })).code).toMatch(
      /^(config_error|server_not_found)$/,
    );
    expect(running.poll()).toEqual({ tag: "pending" });
    expect(host.pids("hang").every(isAlive)).toBe(true);
    running.destroy();
    await waitFor("its process is gone", () => !host.pids("hang").some(isAlive));
    expect(host.pids("hang")).toHaveLength(1);
  });

  test("that deletes a file closes nothing that is named by itself", async () => {
    const host = make({ trust: "always" }).serve("plain", "processes", "plain");
    host
      .write(".pi/mcp.json", { imports: ["cursor"] })
      .write(".cursor/mcp.json", readFileSync(host.configPath, "utf8"));
    const params = { configPath: ".cursor/mcp.json", server: "plain", tool: "echo" };
    await host.run("mcp_call", params);
    rmSync(join(host.folder, ".pi/mcp.json"));
    await host.run("mcp_list", {});
    await host.run("mcp_call", params);
    expect(host.pids("plain")).toHaveLength(1);
  });

  test.each([
    ["disables", { enabled: false }],
    ["replaces", { command: "another" }],
  ])("that %s an entry in another file over its own closes nothing that is named by its own", async (_, over) => {
    const host = make().serve("hang", "timing", "hang");
    const named = { configPath: ".mcp.json", server: "hang" };
    host.write(".mcp.json", readFileSync(host.configPath, "utf8"));
    const running = host.step("mcp_call", { ...named, tool: "hang" });
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    host.write(".rpi/mcp.json", { mcpServers: { hang: over } });
    await host.run("mcp_list", {});
    await host.run("mcp_call", { ...named, tool: "echo" });
    expect(running.poll()).toEqual({ tag: "pending" });
    expect(host.pids("hang")).toHaveLength(1);
    host.write(".rpi/mcp.json", {}).write(".mcp.json", { mcpServers: {} });
    await host.run("mcp_list", {});
    await waitFor("its process is gone", () => !host.pids("hang").some(isAlive));
    running.destroy();
  });

  test("that breaks a file for a moment, as an editor does, closes nothing that it configured", async () => {
    const host = make({ trust: "always" }).serve("hang", "timing", "hang");
    const written = readFileSync(host.configPath, "utf8");
    const imported = JSON.stringify({ mcpServers: { imported: JSON.parse(written).mcpServers.hang } });
    const hang = { server: "hang", tool: "hang" };
    host
      .write(".pi/mcp.json", { imports: ["cursor"] })
      .write(".mcp.json", written)
      .write(".cursor/mcp.json", imported);
    const running = [host.step("mcp_call", hang), host.step("mcp_call", { ...hang, server: "imported" })];
    await waitFor("the calls are running", () => host.received("hang", "tools/call").length === 2);
    host.write(".mcp.json", written.slice(0, -3)).write(".cursor/mcp.json", "");
    const listed = jsonOf(await host.run("mcp_list", {}));
    expect(listed).toMatchObject({ servers: [], problems: [expect.anything(), expect.anything()] });
    host.write(".mcp.json", written).write(".cursor/mcp.json", imported);
    await host.run("mcp_call", { server: "hang", tool: "echo" });
    await host.run("mcp_call", { server: "imported", tool: "echo" });
    for (const step of running) expect(step.poll()).toEqual({ tag: "pending" });
    expect(host.pids("hang")).toHaveLength(2);
    for (const step of running) step.destroy();
  });

  test("during a call lets that call end on the old connection, which goes with it", async () => {
    const host = make({ limits: IMPATIENT }).serve("hang", "timing", "hang");
    const running = host.callStep("hang", "hang");
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    const [old] = host.pids("hang");
    host.serve("hang", "timing", "hang", { env: { NEW: "1" } });
    await host.call("hang", "echo");
    expect(running.poll()).toEqual({ tag: "pending" });
    running.cancel();
    expect(running.poll()).toMatchObject({ tag: "err", code: "cancelled" });
    running.destroy();
    await waitFor("the old process is gone", () => old !== undefined && !isAlive(old));
    await host.call("hang", "echo");
  });

  test("that replaces an entry in another file lets a running call end on the old connection, which goes with it", async () => {
    const host = make({ trust: "always" }).serve("hang", "timing", "hang");
    const written = readFileSync(host.configPath, "utf8");
    host.write(".mcp.json", written);
    const running = host.step("mcp_call", { server: "hang", tool: "hang" });
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    host.write(".rpi/mcp.json", written);
    await host.run("mcp_call", { server: "hang", tool: "echo" });
    expect(running.poll()).toEqual({ tag: "pending" });
    const [old] = host.pids("hang");
    running.destroy();
    await waitFor("the old process is gone", () => old !== undefined && !isAlive(old));
    expect(host.pids("hang").filter(isAlive)).toHaveLength(1);
  });

  test("while a call is being asked about lets that call go on with the old connection, which goes with it", async () => {
    let allow: (allowed: boolean) => void = () => undefined;
    const asked: string[] = [];
    const approve: HostServices["approve"] = ({ action, arguments: args }) => {
      const text = JSON.stringify(args);
      if (action === "call") asked.push(text);
      return action === "call" && text.includes("first")
        ? new Promise((resolve) => {
            allow = resolve;
          })
        : Promise.resolve(true);
    };
    const host = make({ limits: IMPATIENT, services: { approve } }).serve("plain", "processes", "plain");
    const first = host.call("plain", "echo", { text: "first" });
    await waitFor("the person is asked", () => asked.length === 1);
    const [old] = host.pids("plain");
    host.serve("plain", "processes", "plain", { env: { NEW: "1" } });
    expect(textOf(await host.call("plain", "echo", { text: "second" }))).toBe("second");
    expect(host.pids("plain")).toHaveLength(2);
    expect(old !== undefined && isAlive(old)).toBe(true);
    allow(true);
    expect(textOf(await first)).toBe("first");
    await waitFor("the old process is gone", () => old !== undefined && !isAlive(old));
    expect(host.received("plain", "tools/call")).toHaveLength(2);
  });

  test("during a discovery that meets a stale socket leaves that call its connection, and the others the new one", async () => {
    const held: FaultExchange[] = [];
    const server = await FaultServer.start({
      scenarios: {
        stale: {
          on: "tools/list",
          post: (exchange) => {
            if (server.posts("stale", "tools/list").length === 2) held.push(exchange);
            else exchange.good();
          },
        },
      },
    });
    try {
      const entry = { type: "http", url: server.url("stale") };
      const host = make().configure("server", entry);
      await host.call("server", "echo", { text: "before" });
      const first = host.call("server", "echo", { text: "first" });
      await waitFor("its discovery has arrived", () => held.length === 1);
      host.configure("server", { ...entry, headers: { "X-New": "1" } });
      expect(textOf(await host.call("server", "echo", { text: "second" }))).toBe("second");
      held[0]?.reset();
      expect(textOf(await first)).toBe("first");
      expect(textOf(await host.call("server", "echo", { text: "third" }))).toBe("third");
      expect(server.posts("stale", "initialize")).toHaveLength(2);
      expect(server.executions("stale")).toBe(4);
    } finally {
      await server.dispose();
    }
  });

  test.each([
    ["mcp_call", "tools/list", { tool: "echo" }],
    ["mcp_list", "tools/list", {}],
    ["mcp_request", "resources/list", { method: "resources/list" }],
  ] as const)("during the %s that waits for %s leaves it its connection", async (tool, method, params) => {
    const host = make({ limits: IMPATIENT }).serve("hang", "timing", `hang-at ${method}`);
    const running = host.step(tool, { configPath: host.configPath, server: "hang", ...params });
    await waitFor("it waits", () => host.received("hang", method).length === 1);
    const [old] = host.pids("hang");
    host.serve("hang", "processes", "plain");
    await host.call("hang", "echo");
    expect(running.poll()).toEqual({ tag: "pending" });
    expect(old !== undefined && isAlive(old)).toBe(true);
    running.destroy();
    await waitFor("the old process is gone", () => old !== undefined && !isAlive(old));
  });

  test("while a connection is being made lets those have it who asked for it; it goes with them", async () => {
    const host = make().serve("slow", "timing", "slow-initialize 400");
    const first = host.call("slow", "echo", { text: "first" });
    await waitFor("it is being made", () => host.received("slow", "initialize").length === 1);
    const [old] = host.pids("slow");
    host.serve("slow", "timing", "slow-initialize 1", { env: { NEW: "1" } });
    expect(textOf(await host.call("slow", "echo", { text: "second" }))).toBe("second");
    expect(textOf(await first)).toBe("first");
    await waitFor("the old process is gone", () => old !== undefined && !isAlive(old));
    await host.call("slow", "echo");
    expect(host.pids("slow")).toHaveLength(2);
  });

  test.each([
    ["a shutdown", (host: PluginHarness) => host.shutdown()],
    ["a release", (host: PluginHarness) => host.run("mcp_list", closing(host, "slow"))],
  ])("while a connection is being made, and %s, end the wait for both", async (_, end) => {
    const host = make({ limits: IMPATIENT }).serve("slow", "timing", "slow-initialize 60000");
    const first = host.callStep("slow", "echo");
    await waitFor("it is being made", () => host.received("slow", "initialize").length === 1);
    host.serve("slow", "timing", "slow-initialize 60001");
    const second = host.callStep("slow", "echo");
    await waitFor("another is being made", () => host.received("slow", "initialize").length === 2);
    expect(first.poll()).toEqual({ tag: "pending" });
    await end(host);
    await Promise.all([first.settled, second.settled]);
    for (const step of [first, second]) expect(step.poll()).toMatchObject({ tag: "err", code: "closed" });
    expect(host.pids("slow").filter(isAlive)).toEqual([]);
  });

  test("leaves a connection that is still being made to be seen and released, also where the next could not be made", async () => {
    const host = make({ limits: IMPATIENT }).serve("slow", "timing", "slow-initialize 60000");
    const first = host.callStep("slow", "echo");
    await waitFor("it is being made", () => host.received("slow", "initialize").length === 1);
    host.serve("slow", "processes", "fatal");
    expect((await host.callFailure("slow", "echo")).code).toBe("connect_failed");
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toMatchObject({
      connections: [{ server: "slow", state: "connecting" }],
    });
    await host.run("mcp_list", closing(host, "slow"));
    await first.settled;
    expect(first.poll()).toMatchObject({ tag: "err", code: "closed" });
    expect(host.pids("slow").filter(isAlive)).toEqual([]);
  });

  test("again and again while connections are being made is refused beyond the limit", async () => {
    const host = make({ limits: { ...IMPATIENT, connections: 2 } });
    const steps: StepHandle[] = [];
    for (let edit = 0; edit < 2; edit++) {
      host.serve("slow", "timing", `slow-initialize ${60_000 + edit}`);
      steps.push(host.callStep("slow", "echo"));
      await waitFor("it is being made", () => host.received("slow", "initialize").length === edit + 1);
    }
    host.serve("slow", "processes", "plain");
    expect((await host.callFailure("slow", "echo")).code).toBe("limit_exceeded");
    expect(host.pids("slow")).toHaveLength(2);
    await host.run("mcp_list", closing(host, "slow"));
    await Promise.all(steps.map(({ settled }) => settled));
    await host.call("slow", "echo");
  });

  test("of the folder alone does not cut off the calls that one session makes in two folders at once", async () => {
    const host = make().serve("agent", "agent");
    mkdirSync(join(host.folder, "other"));
    const folders = [host.folder, join(host.folder, "other"), host.folder, join(host.folder, "other")];
    const calls = folders.map((cwd) => {
      host.context = { cwd, sessionId: "one" };
      return host.call("agent", "where");
    });
    expect((await Promise.all(calls)).map((result) => jsonOf(result)["cwd"])).toEqual(folders);
  });

  test("that only another folder's files make cuts off no call, one of the user's own file also seen from there closes it", async () => {
    const configHome = process.env["XDG_CONFIG_HOME"];
    const host = make().serve("hang", "timing", "hang");
    const entries = JSON.parse(readFileSync(host.configPath, "utf8")) as { mcpServers: { hang: object } };
    const users = (more: object): void => {
      const hang = { ...entries.mcpServers.hang, cwd: host.folder, ...more };
      host.write("config/mcp/mcp.json", { mcpServers: { hang } });
    };
    const inFolder = (folder: string): void => {
      host.context = { cwd: join(host.folder, folder), sessionId: "one" };
    };
    process.env["XDG_CONFIG_HOME"] = join(host.folder, "config");
    try {
      users({});
      host.write("here/README", "").write("there/.mcp.json", { mcpServers: { hang: { enabled: false } } });
      inFolder("here");
      const running = host.step("mcp_call", { server: "hang", tool: "hang" });
      await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
      inFolder("there");
      expect((await host.failure("mcp_call", { server: "hang", tool: "echo" })).code).toBe("server_disabled");
      inFolder("here");
      expect(textOf(await host.run("mcp_call", { server: "hang", tool: "echo", arguments: { text: "on" } }))).toBe(
        "on",
      );
      expect(running.poll()).toEqual({ tag: "pending" });
      users({ enabled: false });
      inFolder("there");
      await host.run("mcp_list", {});
      await running.settled;
      expect(running.poll()).toMatchObject({ tag: "err", code: "closed" });
      expect(host.pids("hang")).toHaveLength(1);
    } finally {
      if (configHome === undefined) delete process.env["XDG_CONFIG_HOME"];
      else process.env["XDG_CONFIG_HOME"] = configHome;
    }
  });

  test("while it is being made ends the wait of its callers as closed, not as cancelled", async () => {
    const host = make({ limits: IMPATIENT }).serve("slow", "timing", "slow-initialize 60000");
    const waiting = host.callStep("slow", "echo");
    await waitFor("it is being made", () => host.received("slow", "initialize").length === 1);
    await host.run("mcp_list", { configPath: host.configPath, server: "slow", action: "close" });
    await waiting.settled;
    expect(waiting.poll()).toMatchObject({ tag: "err", code: "closed", details: { outcomeUnknown: false } });
    waiting.destroy();
    expect(host.pids("slow").filter(isAlive)).toEqual([]);
  });
});

describe("what was running when its connection is closed", () => {
  test.each([
    ["by its user", (host: PluginHarness) => host.run("mcp_list", closing(host, "hang"))],
    ["since it was disabled", (host: PluginHarness) => host.configure("hang", { command: "x", enabled: false })],
  ])("%s ends as closed, and a discovery does not bring its server up again", async (_, close) => {
    const host = make().serve("hang", "timing", "hang-at tools/list");
    const { configPath } = host;
    await host.run("mcp_request", { configPath, server: "hang", method: "ping" });
    const running = host.callStep("hang", "echo");
    await waitFor("the discovery is running", () => host.received("hang", "tools/list").length === 1);
    await close(host);
    await host.run("mcp_list", { configPath });
    await running.settled;
    expect(running.poll()).toMatchObject({ tag: "err", code: "closed", details: { outcomeUnknown: false } });
    running.destroy();
    expect(host.pids("hang")).toHaveLength(1);
    expect(jsonOf(await host.run("mcp_list", { action: "status" }))).toEqual({ connections: [] });
  });

  test("ends as closed with its outcome unknown", async () => {
    const host = make().serve("hang", "timing", "hang");
    const running = host.callStep("hang", "hang");
    await waitFor("the call is running", () => host.received("hang", "tools/call").length === 1);
    await host.run("mcp_list", { configPath: host.configPath, server: "hang", action: "close" });
    await running.settled;
    const end = running.poll();
    expect(end).toMatchObject({ tag: "err", code: "closed", details: { outcomeUnknown: true } });
    expect(end.tag === "err" && end.message).toMatch(/outcome unknown/i);
    running.destroy();
  });
});
