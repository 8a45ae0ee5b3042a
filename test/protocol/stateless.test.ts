import { describe, expect, test } from "@jest/globals";
import type { HostServices } from "../../src/contract.ts";
import { type EraServer, eraServers, helpfulHost, WAYS, type Way } from "../support/era-servers.ts";
import { type HarnessOptions, harnesses, jsonOf, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const make = harnesses();
const start = eraServers();

const NEW = "2026-07-28";
const META = "io.modelcontextprotocol/";
const PINNED = { protocol: NEW };

interface Setting {
  readonly host: PluginHarness;
  readonly server: EraServer;
}

async function setUp(way: Way, mode: string, entry: object = PINNED, options: HarnessOptions = {}): Promise<Setting> {
  const server = await start(way, mode);
  const host = make(options);
  server.configure(host, "server", { ...entry });
  return { host, server };
}

function methodsOf(server: EraServer): (string | undefined)[] {
  return server.messages().map(({ method }) => method);
}

describe.each(WAYS)("without a handshake, over %s", (way) => {
  test("the server is discovered first, and every request describes itself", async () => {
    const { host, server } = await setUp(way, "plain");
    expect(textOf(await host.call("server", "echo", { text: "hello" }))).toBe("hello");
    expect(methodsOf(server)).toEqual(["server/discover", "tools/list", "tools/call"]);
    for (const { params } of server.messages()) {
      expect(params?.["_meta"]).toMatchObject({
        [`${META}protocolVersion`]: NEW,
        [`${META}clientInfo`]: { name: "rpi-mcp-adapter", version: expect.any(String) },
        [`${META}clientCapabilities`]: {},
      });
    }
    const ids = server.messages().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const listed = jsonOf(await host.list("server"));
    expect(listed).toMatchObject({ protocolVersion: NEW, serverInfo: { name: "eras" }, instructions: "Be brief." });
  });

  test("auto falls forward after a refused initialize, and remembers what it learnt", async () => {
    const { host, server } = await setUp(way, "plain", {});
    expect(textOf(await host.call("server", "echo", { text: "one" }))).toBe("one");
    await host.run("mcp_list", { configPath: host.configPath, server: "server", action: "close" });
    const before = methodsOf(server);
    expect(before.filter((method) => method === "server/discover")).toHaveLength(1);
    expect(textOf(await host.call("server", "echo", { text: "two" }))).toBe("two");
    expect(methodsOf(server).slice(before.length)).toEqual(["server/discover", "tools/list", "tools/call"]);
  });

  test("tools are rediscovered before every call, whatever ttlMs says", async () => {
    const { host, server } = await setUp(way, "plain");
    for (const text of ["a", "b", "c"]) await host.call("server", "echo", { text });
    expect(server.messages("tools/list")).toHaveLength(3);
    expect(server.messages("server/discover")).toHaveLength(1);
  });

  test("progress is asked for with every call and becomes partial results", async () => {
    const { host, server } = await setUp(way, "plain");
    const step = host.callStep("server", "progress");
    const partials: unknown[] = [];
    await step.settled;
    step.poll((partial) => partials.push(partial.details?.["progress"]));
    step.destroy();
    expect(partials).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
    const [call] = server.messages("tools/call");
    expect(call?.params?.["_meta"]).toMatchObject({ progressToken: expect.any(Number) });
  });

  test("log messages are asked for only where the host logs", async () => {
    const quiet = await setUp(way, "plain");
    await quiet.host.call("server", "log");
    expect(JSON.stringify(quiet.server.messages())).not.toContain("logLevel");
    const services = helpfulHost();
    const { host } = await setUp(way, "plain", PINNED, { services: { log: (entry) => services.log?.(entry) } });
    await host.call("server", "log");
    expect(services.logged).toEqual([{ level: "warning", server: "server", message: "eras: take care" }]);
  });

  test("what the revision does not have is refused at once, and nothing is sent", async () => {
    const { host, server } = await setUp(way, "plain");
    await host.list("server");
    const before = server.messages().length;
    const base = { configPath: host.configPath, server: "server" };
    for (const method of ["ping", "logging/setLevel", "tasks/list"]) {
      const { code, message } = await host.failure("mcp_request", { ...base, method });
      expect(code).toBe("capability_missing");
      expect(message).toContain(method);
      expect(message).toContain(NEW);
    }
    for (const method of [
      "initialize",
      "resources/subscribe",
      "subscriptions/listen",
      "notifications/cancelled",
      "sampling/createMessage",
    ])
      expect((await host.failure("mcp_request", { ...base, method })).code).toBe("invalid_params");
    expect(server.messages()).toHaveLength(before);
  });

  test("resources, templates, prompts and completion are reached as with a handshake", async () => {
    const { host } = await setUp(way, "plain");
    for (const kind of ["resources", "resource_templates", "prompts"]) {
      const listed = jsonOf(await host.list("server", { kind }));
      expect(listed[kind]).toHaveLength(1);
    }
    const base = { configPath: host.configPath, server: "server" };
    const read = await host.run("mcp_request", { ...base, method: "resources/read", params: { uri: "memo://1" } });
    expect(jsonOf(read)).toMatchObject({ contents: [{ text: "read" }] });
    const completed = await host.run("mcp_request", { ...base, method: "completion/complete", params: {} });
    expect(jsonOf(completed)).toMatchObject({ completion: { values: ["greet"] } });
  });

  test("a server without any capabilities is refused for tools, and asked for none", async () => {
    const { host, server } = await setUp(way, "no-capabilities");
    expect((await host.listFailure("server")).code).toBe("capability_missing");
    expect((await host.callFailure("server", "echo")).code).toBe("capability_missing");
    expect(methodsOf(server)).toEqual(["server/discover"]);
  });

  test("a result without resultType is complete, one of an unknown type is refused", async () => {
    const absent = await setUp(way, "type-absent");
    expect(textOf(await absent.host.call("server", "echo"))).toBe("complete");
    const unknown = await setUp(way, "type-unknown");
    const { code, message } = await unknown.host.callFailure("server", "echo");
    expect(code).toBe("protocol_error");
    expect(message).toContain("later");
  });

  test("questions sent as requests of the server's own are not answered", async () => {
    const { host, server } = await setUp(way, "asks-the-old-way", PINNED, { services: helpfulHost() });
    expect(textOf(await host.call("server", "echo"))).toBe("answered all the same");
    await host.call("server", "echo");
    expect(server.messages().filter(({ method }) => method === undefined)).toEqual([]);
  });

  test("a structured result is checked and shown", async () => {
    const { host } = await setUp(way, "plain");
    expect(textOf(await host.call("server", "structured"))).toBe('{"n":1}');
  });

  test("UnsupportedProtocolVersion that offers the same revision is met by one more request", async () => {
    const { host, server } = await setUp(way, "unsupported-once");
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(server.messages("server/discover")).toHaveLength(2);
  });

  test.each([
    ["unsupported-empty", "names none"],
    ["unsupported-foreign", "2031-01-01"],
    ["unsupported-circle", "2025-11-25"],
    ["unsupported-itself", NEW],
  ])("%s is unsupported_protocol, promptly, pinned and not", async (mode, told) => {
    for (const entry of [PINNED, {}]) {
      const { host, server } = await setUp(way, mode, entry);
      const { code, message } = await host.listFailure("server");
      expect(code).toBe("unsupported_protocol");
      if (entry === PINNED) expect(message).toContain(told);
      expect(server.messages().length).toBeLessThanOrEqual(3);
    }
  });

  test("a server that stops speaking the revision is asked anew what it speaks, within the same call", async () => {
    if (way === "http") return; // The strict HTTP server speaks one revision.
    const { host, server } = await setUp(way, "downgraded", {});
    server.configure(host, "server", PINNED);
    expect(textOf(await host.call("server", "echo"))).toBe("call 1");
    const { code } = await host.callFailure("server", "echo");
    expect(code).toBe("unsupported_protocol");
  });

  test("silence ends a call at its deadline, and the server is told", async () => {
    const { host, server } = await setUp(way, "plain");
    const { code, details } = await host.callFailure("server", "hang", {}, { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(details).toMatchObject({ outcomeUnknown: true });
    await told(way, server);
    expect(textOf(await host.call("server", "echo", { text: "after" }))).toBe("after");
    expect(server.messages("server/discover").length).toBeLessThanOrEqual(way === "stdio" ? 2 : 1);
  });

  test("a cancelled call settles at once, and the server is told", async () => {
    const { host, server } = await setUp(way, "plain");
    const step = host.callStep("server", "hang");
    await waitFor("the call has arrived", () => server.messages("tools/call").length > 0);
    step.cancel();
    expect(step.poll()).toMatchObject({ tag: "err", code: "cancelled" });
    step.destroy();
    await told(way, server);
    expect(textOf(await host.call("server", "echo", { text: "after" }))).toBe("after");
  });

  test("an answer after the timeout never reaches the next call", async () => {
    const { host } = await setUp(way, "late-answer", { ...PINNED, timeout: 1 }, {});
    const first = host.callStep("server", "echo", {}, { timeoutSeconds: 1 });
    first.cancel();
    first.destroy();
    const texts = ["a", "b", "c"];
    const results = await Promise.all(texts.map((text) => host.call("server", "echo", { text })));
    expect(results.map(textOf).every((text) => text === "LATE" || texts.includes(text))).toBe(true);
    expect(new Set(results.map(textOf)).size).toBe(3);
  });

  test("progress for ever ends at the total", async () => {
    const { host, server } = await setUp(way, "progress-forever", { ...PINNED, maxTotalSeconds: 2 });
    const from = performance.now();
    const { code, message } = await host.callFailure("server", "echo", {}, { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(message).toContain("2 s");
    expect(performance.now() - from).toBeGreaterThan(1800);
    await told(way, server);
  });

  test("progress with a foreign token puts nothing off", async () => {
    const { host } = await setUp(way, "progress-wrong-token", PINNED);
    const from = performance.now();
    const { code } = await host.callFailure("server", "echo", {}, { timeoutSeconds: 1 });
    expect(code).toBe("timeout");
    expect(performance.now() - from).toBeLessThan(1900);
  });
});

/** Over stdio the server gets a notice; over HTTP the end of the response stream says it, and a notice would be wrong. */
async function told(way: Way, server: EraServer): Promise<void> {
  if (way === "stdio") {
    await waitFor("the notice has arrived", () => server.messages("notifications/cancelled").length === 1);
    const [call] = server.messages("tools/call");
    expect(server.messages("notifications/cancelled")[0]?.params).toMatchObject({ requestId: call?.id });
    return;
  }
  await waitFor("the stream was closed", () =>
    server.ledger().some(({ event, method }) => event === "closed" && method === "tools/call"),
  );
  expect(server.messages("notifications/cancelled")).toEqual([]);
}

describe.each(WAYS)("questions in results, over %s", (way) => {
  test.each([
    ["form", { action: "accept", content: { name: "Ada", colour: "blue" } }],
    ["url", { action: "accept" }],
    ["sample", { role: "assistant", content: { type: "text", text: "Hello." }, model: "test" }],
    ["roots", { roots: [{ uri: "file:///project", name: "project" }] }],
  ])("a question (%s) is answered by the host and the call sent again as the server asked", async (what, answer) => {
    const { host, server } = await setUp(way, "plain", PINNED, { services: helpfulHost() });
    expect(jsonOf(await host.call("server", "ask", { what }))).toEqual(answer);
    const [first, second, ...more] = server.messages("tools/call");
    expect(more).toEqual([]);
    expect(second?.id).not.toEqual(first?.id);
    expect(first?.params).not.toHaveProperty("requestState");
    expect(second?.params).toMatchObject({
      name: "ask",
      arguments: { what },
      requestState: `state of ${what}`,
      inputResponses: { q: answer },
    });
    expect(server.messages("tools/list")).toHaveLength(1);
  });

  test("several questions at once are answered together", async () => {
    const { host } = await setUp(way, "input-several", PINNED, { services: helpfulHost() });
    expect(jsonOf(await host.call("server", "echo"))).toMatchObject({
      a: { roots: [{}] },
      b: { action: "accept" },
      c: { role: "assistant" },
    });
  });

  test("only what the host offers is declared", async () => {
    const { host, server } = await setUp(way, "plain", PINNED, { services: { listRoots: async () => [] } });
    await host.list("server");
    expect(server.messages()[0]?.params?.["_meta"]).toMatchObject({ [`${META}clientCapabilities`]: { roots: {} } });
    expect(JSON.stringify(server.messages())).not.toMatch(/elicitation|sampling/);
  });

  test.each([
    ["input-unknown", "elicitation/invent"],
    ["input-nameless", "names no method"],
    ["input-many", "100 questions"],
    ["input-array", "inputRequests"],
    ["input-number-state", "requestState"],
    ["input-nothing", "without inputRequests"],
  ])("%s is protocol_error, and the call is not sent again", async (mode, words) => {
    const { host, server } = await setUp(way, mode, PINNED, { services: helpfulHost() });
    const { code, message } = await host.callFailure("server", "echo");
    expect(code).toBe("protocol_error");
    expect(message).toContain(words);
    expect(server.messages("tools/call")).toHaveLength(1);
  });

  test("a question that was not declared is protocol_error, and nobody is asked", async () => {
    const services: HostServices = { elicit: async () => ({ action: "accept" }) };
    const { host, server } = await setUp(way, "input-sample", PINNED, { services });
    const { code, message } = await host.callFailure("server", "echo");
    expect(code).toBe("protocol_error");
    expect(message).toContain("sampling/createMessage");
    expect(server.messages("tools/call")).toHaveLength(1);
  });

  test("questions for ever end at the limit of rounds", async () => {
    const { host, server } = await setUp(way, "input-forever", PINNED, {
      services: helpfulHost(),
      limits: { inputRounds: 4 },
    });
    const { code, message } = await host.callFailure("server", "echo");
    expect(code).toBe("limit_exceeded");
    expect(message).toContain("4 times");
    const states = server.messages("tools/call").map(({ params }) => params?.["requestState"]);
    expect(states).toEqual([undefined, "round 1", "round 2", "round 3", "round 4"]);
  });

  test("a state of 1 MiB goes back as it came", async () => {
    const { host } = await setUp(way, "input-large-state", PINNED, { services: helpfulHost() });
    expect(textOf(await host.call("server", "echo"))).toBe("true");
  });

  test("a state without questions is sent back at once, without answers", async () => {
    const { host } = await setUp(way, "input-state-only", PINNED);
    expect(jsonOf(await host.call("server", "echo"))).toEqual({ requestState: "again" });
  });

  test("a list must not ask", async () => {
    const { host } = await setUp(way, "input-on-list", PINNED, { services: helpfulHost() });
    expect((await host.listFailure("server")).code).toBe("protocol_error");
  });

  test.each([
    ["a text", "nonsense"],
    ["no properties", { type: "object" }],
    ["a property that is no schema", { type: "object", properties: { a: 7 } }],
    ["an unknown type", { type: "object", properties: { a: { type: "banana" } } }],
    ["a nested form", { type: "object", properties: { a: { type: "object", properties: {} } } }],
    ["an array", [1]],
    ["nothing", null],
  ])("a form that is nonsense (%s) is cancelled, and nobody is asked", async (_what, schema) => {
    const services = helpfulHost();
    const { host } = await setUp(way, "input-nonsense-form", PINNED, { services });
    expect(jsonOf(await host.call("server", "echo", { schema }))).toEqual({ action: "cancel" });
    expect(services.asked).toEqual([]);
  });

  test("a host that does not answer, fails or answers badly declines, within the deadline", async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const slow = await setUp(way, "plain", PINNED, { services: { elicit: never } });
    const answer = await slow.host.call("server", "ask", { what: "form" }, { timeoutSeconds: 1 });
    expect(jsonOf(answer)).toEqual({ action: "cancel" });
    for (const [elicit, expected] of [
      [async () => Promise.reject(new TypeError("broken")), "cancel"],
      [async () => ({ action: "accept", content: { name: 7 } }), "decline"],
      [async () => ({ action: "accept", content: "x" }), "decline"],
      [async () => "yes", "decline"],
      [async () => ({ action: "decline" }), "decline"],
    ] as const) {
      const { host } = await setUp(way, "plain", PINNED, { services: { elicit } as unknown as HostServices });
      expect(jsonOf(await host.call("server", "ask", { what: "form" }))).toEqual({ action: expected });
    }
  });

  test("a cancelled call withdraws its question from the host", async () => {
    let withdrawn: AbortSignal | undefined;
    const services: HostServices = {
      elicit: (_params, { signal }) => {
        withdrawn = signal;
        return new Promise(() => undefined);
      },
    };
    const { host, server } = await setUp(way, "plain", PINNED, { services });
    const step = host.callStep("server", "ask", { what: "form" });
    await waitFor("the host is asked", () => withdrawn !== undefined);
    step.cancel();
    expect(step.poll()).toMatchObject({ code: "cancelled" });
    step.destroy();
    await waitFor("the question is withdrawn", () => withdrawn?.aborted === true, 500);
    await host.call("server", "echo");
    expect(server.messages("tools/call").filter(({ params }) => params?.["name"] === "ask")).toHaveLength(1);
  });
});

describe("processes without a handshake", () => {
  test("one that exits on server/discover is connect_failed with its reason", async () => {
    const pinned = await setUp("stdio", "exits-on-discover");
    const failure = await pinned.host.listFailure("server");
    expect(failure.code).toBe("connect_failed");
    expect(failure.details).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("not in this mood") });
    const auto = await setUp("stdio", "exits-on-discover", {});
    expect((await auto.host.listFailure("server")).code).toBe("connect_failed");
    const pids = new Set(auto.server.ledger().map(({ pid }) => pid));
    expect(pids.size).toBe(2);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });

  test("one that exits on initialize is connect_failed, and works where its revision is pinned", async () => {
    const auto = await setUp("stdio", "exits-on-initialize", {});
    const { code, details } = await auto.host.listFailure("server");
    expect(code).toBe("connect_failed");
    expect(details).toMatchObject({ exitCode: 4 });
    const pinned = await setUp("stdio", "exits-on-initialize");
    expect(textOf(await pinned.host.call("server", "echo", { text: "x" }))).toBe("x");
  });

  test("one that ends with its refusal is discovered on a fresh process", async () => {
    const { host, server } = await setUp("stdio", "ends-after-refusal", {});
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(server.ledger().filter(({ event }) => event === "start").length).toBeLessThanOrEqual(2);
  });

  test("one that answers initialize late, after we moved on, changes nothing", async () => {
    const { host } = await setUp("stdio", "late-initialize", {});
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(jsonOf(await host.list("server"))).toMatchObject({ protocolVersion: NEW });
  });

  test("one that refuses our offer for an older version gets it", async () => {
    const { host, server } = await setUp("stdio", "older-only", {});
    expect(textOf(await host.call("server", "echo"))).toBe("older");
    expect(server.messages("initialize").map(({ params }) => params?.["protocolVersion"])).toEqual([
      "2025-11-25",
      "2025-03-26",
    ]);
    expect(server.messages("server/discover")).toEqual([]);
  });

  test("one of both kinds is spoken to the old way by default and the new way where that is pinned", async () => {
    const auto = await setUp("stdio", "dual", {});
    expect(jsonOf(await auto.host.list("server"))).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "dual" },
    });
    const pinned = await setUp("stdio", "dual");
    expect(jsonOf(await pinned.host.list("server"))).toMatchObject({
      protocolVersion: NEW,
      serverInfo: { name: "eras" },
    });
  });

  test("one that answers initialize with the new revision is spoken to the new way", async () => {
    const { host } = await setUp("stdio", "answers-initialize", {});
    expect(jsonOf(await host.list("server"))).toMatchObject({ protocolVersion: NEW });
  });

  test("a pinned revision that the server lacks is refused by name", async () => {
    const { host } = await setUp("stdio", "plain", { protocol: "2025-06-18" });
    const refused = await host.listFailure("server");
    expect(refused.code).toBe("connect_failed");
    const other = await setUp("stdio", "dual", { protocol: "2025-06-18" });
    const { code, message } = await other.host.listFailure("server");
    expect(code).toBe("unsupported_protocol");
    expect(message).toContain("2025-11-25");
  });

  test("one that speaks another revision after a call is asked anew within the next call", async () => {
    const { host, server } = await setUp("stdio", "downgraded", {});
    await host.configure("server", undefined);
    server.configure(host, "server", {});
    expect(textOf(await host.call("server", "echo"))).toBe("call 1");
  });
});

describe("HTTP without a handshake", () => {
  test("headers say what the body says", async () => {
    const { host, server } = await setUp("http", "plain");
    await host.call("server", "echo", { text: "Hello, 世界", deep: { flag: false } });
    const [headers] = server.headers("tools/call");
    expect(headers).toMatchObject({
      "mcp-protocol-version": NEW,
      "mcp-method": "tools/call",
      "mcp-name": "echo",
      "mcp-param-text": "=?base64?SGVsbG8sIOS4lueVjA==?=",
      "mcp-param-flag": "false",
    });
    expect(server.headers("tools/list")[0]).not.toHaveProperty("mcp-name");
    await host.call("server", "echo", { text: null });
    expect(server.headers("tools/call")[1]).not.toHaveProperty("mcp-param-text");
    const methods = server.ledger().filter(({ event }) => event === "refused");
    expect(methods).toEqual([]);
  });

  test("the round that answers questions carries the same headers", async () => {
    const { host, server } = await setUp("http", "plain", PINNED, { services: helpfulHost() });
    await host.call("server", "ask", { what: "roots" });
    expect(server.headers("tools/call").map((headers) => headers["mcp-name"])).toEqual(["ask", "ask"]);
  });

  test("tools with invalid header annotations are left out with the reason, and cannot be called", async () => {
    const { host, server } = await setUp("http", "headers-invalid");
    const listed = jsonOf(await host.list("server"));
    expect((listed["tools"] as { name: string }[]).map(({ name }) => name)).toEqual(["echo"]);
    const reasons = listed["leftOut"] as { name: string; reason: string }[];
    expect(reasons.map(({ name }) => name)).toEqual(["empty", "spaced", "number", "items", "twice"]);
    for (const { reason } of reasons) expect(reason).toContain("x-mcp-header");
    const { code, message } = await host.callFailure("server", "spaced", { value: "x" });
    expect(code).toBe("tool_not_found");
    expect(message).toContain("A B");
    expect(server.messages("tools/call")).toEqual([]);
  });

  test("over stdio the annotations do not matter", async () => {
    const { host } = await setUp("stdio", "headers-invalid");
    const listed = jsonOf(await host.list("server"));
    expect(listed["tools"]).toHaveLength(6);
    expect(listed).not.toHaveProperty("leftOut");
  });

  test("a changed annotation is seen by the discovery before the call", async () => {
    const { host, server } = await setUp("http", "header-changes");
    await host.list("server");
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(server.headers("tools/call")[0]).toMatchObject({ "mcp-param-later": "x" });
  });

  test("HeaderMismatch is the end of that call, which is not sent again; the next one has fresh headers", async () => {
    const { host, server } = await setUp("http", "header-stale");
    const { code, details } = await host.callFailure("server", "echo", { text: "x" });
    expect(code).toBe("rpc_error");
    expect(details).toMatchObject({ rpcError: { code: -32020 } });
    expect(server.ledger().filter(({ event }) => event === "refused")).toHaveLength(1);
    expect(server.messages("tools/call")).toEqual([]);
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(server.messages("tools/list")).toHaveLength(2);
  });

  test("neither session nor stream nor DELETE belongs to it", async () => {
    const { host, server } = await setUp("http", "plain", PINNED, { services: helpfulHost() });
    await host.call("server", "echo");
    await host.run("mcp_list", { configPath: host.configPath, server: "server", action: "close" });
    expect(server.ledger().filter(({ event }) => event === "listen" || event === "refused")).toEqual([]);
  });
});
