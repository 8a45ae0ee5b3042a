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

/** Servers that name no version we could use; half of them each way, since the opening does not know the way. */
const UNSUPPORTED: Readonly<Record<Way, [mode: string, words: string][]>> = {
  stdio: [
    ["unsupported-empty", "names none"],
    ["unsupported-circle", "2025-11-25"],
  ],
  http: [
    ["unsupported-foreign", "2031-01-01"],
    ["unsupported-itself", NEW],
  ],
};

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

/** The calls of one tool that arrived. */
function callsOf(server: EraServer, tool: string): ReturnType<EraServer["messages"]> {
  return server.messages("tools/call").filter(({ params }) => params?.["name"] === tool);
}

/** Over stdio the server gets a notice; over HTTP the end of the response stream says it, and a notice would be wrong. */
async function toldAbout(way: Way, server: EraServer, tool: string): Promise<void> {
  const ids = callsOf(server, tool).map(({ id }) => id);
  if (way === "stdio") {
    const given = (): unknown[] =>
      server.messages("notifications/cancelled").map(({ params }) => params?.["requestId"]);
    await waitFor(`the notice about ${tool} has arrived`, () => ids.every((id) => given().includes(id)));
    return;
  }
  const closed = (): unknown[] => server.ledger().flatMap((line) => (line.event === "closed" ? [line["id"]] : []));
  await waitFor(`the stream of ${tool} was closed`, () => ids.every((id) => closed().includes(id)));
  expect(server.messages("notifications/cancelled")).toEqual([]);
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
    expect(textOf(await host.call("server", "structured"))).toBe('{"n":1}');
  });

  test("auto falls forward after a refused initialize, and remembers what it learnt", async () => {
    const { host, server } = await setUp(way, "plain", {});
    expect(textOf(await host.call("server", "echo", { text: "one" }))).toBe("one");
    await host.run("mcp_list", { configPath: host.configPath, server: "server", action: "close" });
    const before = methodsOf(server).length;
    expect(server.messages("server/discover")).toHaveLength(1);
    expect(textOf(await host.call("server", "echo", { text: "two" }))).toBe("two");
    expect(methodsOf(server).slice(before)).toEqual(["server/discover", "tools/list", "tools/call"]);
  });

  test("tools are rediscovered before every call, whatever ttlMs says, and missing result fields do not matter", async () => {
    const { host, server } = await setUp(way, "bare");
    for (const text of ["a", "b", "c"]) expect(textOf(await host.call("server", "echo", { text }))).toBe(text);
    expect(server.messages("tools/list")).toHaveLength(3);
    expect(server.messages("server/discover")).toHaveLength(1);
  });

  test("progress is asked for with every call and becomes partial results; log messages reach a host that logs", async () => {
    const services = helpfulHost();
    const { host, server } = await setUp(way, "plain", PINNED, { services });
    const step = host.callStep("server", "progress");
    const partials: unknown[] = [];
    await step.settled;
    step.poll((partial) => partials.push(partial.details?.["progress"]));
    step.destroy();
    await host.call("server", "log");
    expect(services.logged).toEqual([{ level: "warning", server: "server", message: "eras: take care" }]);
    expect(callsOf(server, "progress")[0]?.params?.["_meta"]).toMatchObject({ progressToken: expect.any(Number) });
    expect(partials.length).toBeGreaterThan(0);
    expect(partials.at(-1)).toEqual({ progress: 3, total: 3, message: "step 3" });
  });

  test("only what the host offers is declared or asked for", async () => {
    const { host, server } = await setUp(way, "plain", PINNED, { services: { listRoots: async () => [] } });
    await host.call("server", "log");
    for (const { params } of server.messages())
      expect(params?.["_meta"]).toMatchObject({ [`${META}clientCapabilities`]: { roots: {} } });
    expect(JSON.stringify(server.messages())).not.toMatch(/elicitation|sampling|logLevel/);
  });

  test("what the revision does not have is refused at once, and nothing is sent", async () => {
    const { host, server } = await setUp(way, "plain");
    await host.list("server");
    const before = server.messages().length;
    const base = { configPath: host.configPath, server: "server" };
    for (const method of ["ping", "logging/setLevel", "tasks/list"]) {
      const { code, message } = await host.failure("mcp_request", { ...base, method });
      expect({ method, code }).toEqual({ method, code: "capability_missing" });
      expect(message).toContain(method);
      expect(message).toContain(NEW);
    }
    for (const method of [
      "initialize",
      "resources/subscribe",
      "subscriptions/listen",
      "notifications/x",
      "roots/list",
    ]) {
      const { code } = await host.failure("mcp_request", { ...base, method });
      expect({ method, code }).toEqual({ method, code: "invalid_params" });
    }
    expect(server.messages()).toHaveLength(before);
  });

  test("resources, templates, prompts and completion are reached as with a handshake", async () => {
    const { host } = await setUp(way, "plain");
    for (const kind of ["resources", "resource_templates", "prompts"])
      expect(jsonOf(await host.list("server", { kind }))[kind]).toHaveLength(1);
    const base = { configPath: host.configPath, server: "server" };
    const read = await host.run("mcp_request", { ...base, method: "resources/read", params: { uri: "memo://1" } });
    expect(jsonOf(read)).toMatchObject({ contents: [{ text: "read" }] });
    const params = { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "m" } };
    const completed = await host.run("mcp_request", { ...base, method: "completion/complete", params });
    expect(jsonOf(completed)).toMatchObject({ completion: { values: ["greet"] } });
  });

  test("a server without any capabilities is refused for tools, and asked for none", async () => {
    const { host, server } = await setUp(way, "no-capabilities");
    expect((await host.listFailure("server")).code).toBe("capability_missing");
    expect((await host.callFailure("server", "echo")).code).toBe("capability_missing");
    expect(methodsOf(server)).toEqual(["server/discover"]);
  });

  test("UnsupportedProtocolVersion that offers the same revision is met by one more request", async () => {
    const { host, server } = await setUp(way, "unsupported-once");
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(server.messages("server/discover")).toHaveLength(2);
  });

  test.each(UNSUPPORTED[way])("%s is unsupported_protocol after a bounded exchange", async (mode, words) => {
    const { host, server } = await setUp(way, mode);
    const { code, message } = await host.listFailure("server");
    expect(code).toBe("unsupported_protocol");
    expect(message).toContain(words);
    server.configure(host, "server", {});
    expect((await host.listFailure("server")).code).toBe("unsupported_protocol");
    expect(server.messages().length).toBeLessThanOrEqual(5);
  });

  test("a server that stops speaking the revision is asked anew what it speaks, within the same call", async () => {
    const { host, server } = await setUp(way, "downgraded", {});
    expect(textOf(await host.call("server", "echo"))).toBe("call 1");
    // Over stdio a fresh process begins at the beginning.
    expect(textOf(await host.call("server", "echo"))).toBe(way === "stdio" ? "call 1" : "call 2");
    expect(server.messages("tools/call")).toHaveLength(2);
    const { protocolVersion } = jsonOf(await host.list("server"));
    expect(protocolVersion).toBe(way === "stdio" ? NEW : "2025-11-25");
  });

  test("silence, progress for ever and progress for others end a call at its deadline, and the server is told", async () => {
    const { host, server } = await setUp(way, "faults", { ...PINNED, maxTotalSeconds: 2 });
    await host.list("server");
    const waited = { hang: 1, "progress-wrong-token": 1, "late-answer": 1, "progress-for-ever": 2 };
    await Promise.all(
      Object.entries(waited).map(async ([tool, seconds]) => {
        const { code, message } = await host.callFailure("server", tool, {}, { timeoutSeconds: 1 });
        expect({ tool, code }).toEqual({ tool, code: "timeout" });
        expect(message).toContain(`within ${seconds} s`);
      }),
    );
    for (const tool of ["hang", "progress-wrong-token", "progress-for-ever"]) await toldAbout(way, server, tool);
    await waitFor("the late answer was sent", () => server.ledger().some(({ event }) => event === "late"));
    expect(textOf(await host.call("server", "echo", { text: "after" }))).toBe("after");
    expect(server.ledger().filter(({ event }) => event === "start")).toHaveLength(1);
  });

  test("a cancelled call settles at once, and the server is told", async () => {
    const { host, server } = await setUp(way, "faults");
    const step = host.callStep("server", "hang");
    await waitFor("the call has arrived", () => callsOf(server, "hang").length > 0);
    step.cancel();
    expect(step.poll()).toMatchObject({ tag: "err", code: "cancelled" });
    step.destroy();
    await toldAbout(way, server, "hang");
    expect(textOf(await host.call("server", "echo", { text: "after" }))).toBe("after");
  });
});

describe.each(WAYS)("questions in results, over %s", (way) => {
  test("are answered by the host, and the call is sent again as the server asked", async () => {
    const { host, server } = await setUp(way, "plain", PINNED, { services: helpfulHost() });
    const expected: Record<string, unknown> = {
      form: { action: "accept", content: { name: "Ada", colour: "blue" } },
      url: { action: "accept" },
      sample: { role: "assistant", content: { type: "text", text: "Hello." }, model: "test" },
      roots: { roots: [{ uri: "file:///project", name: "project" }] },
    };
    for (const [what, answer] of Object.entries(expected)) {
      expect(jsonOf(await host.call("server", "ask", { what }))).toEqual(answer);
      const [first, second, ...more] = server.messages("tools/call").slice(-2);
      expect(more).toEqual([]);
      expect(second?.id).not.toEqual(first?.id);
      expect(first?.params).not.toHaveProperty("requestState");
      expect(second?.params).toMatchObject({
        name: "ask",
        arguments: { what },
        requestState: `state of ${what}`,
        inputResponses: { q: answer },
      });
    }
    expect(server.messages("tools/call")).toHaveLength(8);
    expect(server.messages("tools/list")).toHaveLength(4);
  });

  test("several at once, a state without questions, and a state of 1 MiB go back as they came", async () => {
    const { host, server } = await setUp(way, "faults", PINNED, { services: helpfulHost() });
    const several = jsonOf(await host.call("server", "ask-several"));
    expect(several).toMatchObject({ a: { roots: [{}] }, b: { action: "accept" }, c: { role: "assistant" } });
    expect(jsonOf(await host.call("server", "state-only"))).toEqual({ requestState: "again" });
    expect(textOf(await host.call("server", "large-state"))).toBe("true");
    expect(textOf(await host.call("server", "asks-the-old-way"))).toBe("answered all the same");
    // Requests of the server's own are a violation in this revision; an answer to them would be another.
    expect(server.messages().filter(({ method }) => method === undefined)).toEqual([]);
  });

  test("that make no sense are protocol_error, and the call is not sent again", async () => {
    const { host, server } = await setUp(way, "faults", PINNED, { services: helpfulHost() });
    const faults = {
      "ask-unknown": "elicitation/invent",
      "ask-nameless": "names no method",
      "ask-long-name": "names no method",
      "ask-long-method": "not offered",
      "ask-many": "100 questions",
      "ask-in-array": "inputRequests",
      "ask-number-state": "requestState",
      "ask-nothing": "without inputRequests",
      "type-unknown": "later",
    };
    for (const [tool, words] of Object.entries(faults)) {
      const { code, message } = await host.callFailure("server", tool);
      expect({ tool, code }).toEqual({ tool, code: "protocol_error" });
      expect(message).toContain(words);
      expect(message.length).toBeLessThan(1000);
      expect(callsOf(server, tool)).toHaveLength(1);
    }
  });

  test("are withdrawn from the host when the call is cancelled", async () => {
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
    expect(callsOf(server, "ask")).toHaveLength(1);
  });
});

describe("questions in results, whichever way", () => {
  test("stay open when another call is given up", async () => {
    let withdrawn: AbortSignal | undefined;
    let answer = (): void => undefined;
    const services: HostServices = {
      elicit: (_params, { signal }) => {
        withdrawn = signal;
        return new Promise((resolve) => {
          answer = () => resolve({ action: "accept", content: { name: "Ada" } });
        });
      },
    };
    const { host, server } = await setUp("stdio", "faults", PINNED, { services });
    const asking = host.call("server", "ask-then-work");
    await waitFor("the host is asked", () => withdrawn !== undefined);
    const other = host.callStep("server", "hang");
    await waitFor("the other call has arrived", () => callsOf(server, "hang").length > 0);
    other.cancel();
    other.destroy();
    expect(withdrawn?.aborted).toBe(false);
    answer();
    expect(jsonOf(await asking)).toMatchObject({ action: "accept", content: { name: "Ada" } });
  });

  test("that a host never answers leave the server time to go on with the call", async () => {
    const services: HostServices = { elicit: () => new Promise(() => undefined) };
    const { host, server } = await setUp("stdio", "faults", { ...PINNED, maxTotalSeconds: 2 }, { services });
    const answered = await host.call("server", "ask-then-work", {}, { timeoutSeconds: 2 });
    expect(jsonOf(answered)).toEqual({ action: "cancel" });
    expect(server.messages("notifications/cancelled")).toEqual([]);
  });

  test("that were not declared are protocol_error, and nobody is asked", async () => {
    const services: HostServices = { elicit: async () => ({ action: "accept" }) };
    const { host, server } = await setUp("stdio", "faults", PINNED, { services });
    const { code, message } = await host.callFailure("server", "ask-sample");
    expect(code).toBe("protocol_error");
    expect(message).toContain("sampling/createMessage");
    expect(callsOf(server, "ask-sample")).toHaveLength(1);
  });

  test("for ever end at the limit of rounds, and nobody is asked what would not be sent", async () => {
    let asked = 0;
    const services: HostServices = {
      ...helpfulHost(),
      listRoots: async () => Array(++asked).fill({ uri: "file:///a" }),
    };
    const { host, server } = await setUp("stdio", "faults", PINNED, { services, limits: { inputRounds: 4 } });
    const { code, message } = await host.callFailure("server", "ask-for-ever");
    expect(code).toBe("limit_exceeded");
    expect(message).toContain("4 times");
    const states = callsOf(server, "ask-for-ever").map(({ params }) => params?.["requestState"]);
    expect(states).toEqual([undefined, "round 1", "round 2", "round 3", "round 4"]);
    expect(asked).toBe(4);
  });

  test("in a list are protocol_error", async () => {
    const { host } = await setUp("stdio", "list-asks", PINNED, { services: helpfulHost() });
    expect((await host.listFailure("server")).code).toBe("protocol_error");
  });

  test("with a form that is nonsense are cancelled, and nobody is asked", async () => {
    const services = helpfulHost();
    const { host } = await setUp("stdio", "faults", PINNED, { services });
    const schemas: unknown[] = [
      "nonsense",
      { type: "object" },
      { type: "object", properties: { a: 7 } },
      { type: "object", properties: { a: { type: "banana" } } },
      { type: "object", properties: { a: { type: "object", properties: {} } } },
      { type: "array", properties: {} },
      [1],
      null,
    ];
    for (const schema of schemas)
      expect(jsonOf(await host.call("server", "ask-form", { schema }))).toEqual({ action: "cancel" });
    expect(services.asked).toEqual([]);
  });

  test("that the host does not answer, or answers badly, are declined in time", async () => {
    let elicit: () => unknown = () => new Promise(() => undefined);
    const services = { elicit: () => elicit() } as unknown as HostServices;
    const { host } = await setUp("stdio", "plain", PINNED, { services });
    const ask = async (more = {}): Promise<unknown> =>
      jsonOf(await host.call("server", "ask", { what: "form" }, more))["action"];
    await host.list("server");
    expect(await ask({ timeoutSeconds: 1 })).toBe("cancel");
    const answers: [() => unknown, string][] = [
      [() => Promise.reject(new TypeError("broken")), "cancel"],
      [() => ({ action: "accept", content: { name: 7 } }), "decline"],
      [() => ({ action: "accept", content: "x" }), "decline"],
      [() => "yes", "decline"],
      [() => ({ action: "decline" }), "decline"],
      [() => ({ action: "cancel" }), "cancel"],
    ];
    for (const [answer, action] of answers) {
      elicit = answer;
      expect(await ask()).toBe(action);
    }
  });
});

describe("processes", () => {
  test("one that exits on server/discover is connect_failed with its reason, pinned and not", async () => {
    const { host, server } = await setUp("stdio", "exits-on-discover");
    const failure = await host.listFailure("server");
    expect(failure.code).toBe("connect_failed");
    expect(failure.details).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("not in this mood") });
    server.configure(host, "server", {});
    expect((await host.listFailure("server")).code).toBe("connect_failed");
    const pids = [...new Set(server.ledger().map(({ pid }) => pid))];
    expect(pids).toHaveLength(3);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test("one that exits on initialize is connect_failed, and works where its revision is pinned", async () => {
    const { host, server } = await setUp("stdio", "exits-on-initialize", {});
    const { code, details } = await host.listFailure("server");
    expect(code).toBe("connect_failed");
    expect(details).toMatchObject({ exitCode: 4 });
    server.configure(host, "server", PINNED);
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
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

  test("one that refuses our offer for an older version gets that one", async () => {
    const { host, server } = await setUp("stdio", "older-only", {});
    expect(textOf(await host.call("server", "echo"))).toBe("older");
    const offered = server.messages("initialize").map(({ params }) => params?.["protocolVersion"]);
    expect(offered).toEqual(["2025-11-25", "2025-03-26"]);
    expect(server.messages("server/discover")).toEqual([]);
  });

  test.each(WAYS)(
    "one of both kinds is spoken to the old way by default, the new way where that is pinned (%s)",
    async (way) => {
      const { host, server } = await setUp(way, "dual", {});
      const old = jsonOf(await host.list("server"));
      expect(old).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "old" } });
      expect(textOf(await host.call("server", "echo", { text: "old" }))).toBe("old");
      server.configure(host, "server", PINNED);
      expect(jsonOf(await host.list("server"))).toMatchObject({ protocolVersion: NEW, serverInfo: { name: "eras" } });
      expect(textOf(await host.call("server", "echo", { text: "new" }))).toBe("new");
      server.configure(host, "server", { protocol: "2025-06-18" });
      const { code, message } = await host.listFailure("server");
      expect(code).toBe("unsupported_protocol");
      expect(message).toContain("2025-11-25");
    },
  );

  test("one that answers initialize with the new revision is spoken to the new way", async () => {
    const { host } = await setUp("stdio", "answers-initialize", {});
    expect(jsonOf(await host.list("server"))).toMatchObject({ protocolVersion: NEW });
  });

  test("a pinned handshake that the server does not know is refused, and nothing else is tried", async () => {
    const { host, server } = await setUp("stdio", "plain", { protocol: "2025-06-18" });
    expect((await host.listFailure("server")).code).toBe("unsupported_protocol");
    expect(methodsOf(server)).toEqual(["initialize"]);
  });
});

describe("HTTP headers", () => {
  test("that a gateway misses, in no set words, lead to the way of speaking that has them", async () => {
    const { host, server } = await setUp("http", "behind-gateway", {});
    expect(textOf(await host.call("server", "echo", { text: "through" }))).toBe("through");
    expect(methodsOf(server)).toEqual(["server/discover", "tools/list", "tools/call"]);
    expect(server.ledger().filter(({ event }) => event === "refused")).toHaveLength(1);
  });

  test("say what the body says, in every round", async () => {
    const { host, server } = await setUp("http", "plain", PINNED, { services: helpfulHost() });
    await host.call("server", "echo", { text: "Hello, 世界", deep: { flag: false } });
    await host.call("server", "echo", { text: null });
    await host.call("server", "ask", { what: "roots" });
    const [echo, empty, ask, again] = server.headers("tools/call");
    expect(echo).toMatchObject({
      "mcp-protocol-version": NEW,
      "mcp-method": "tools/call",
      "mcp-name": "echo",
      "mcp-param-text": "=?base64?SGVsbG8sIOS4lueVjA==?=",
      "mcp-param-flag": "false",
    });
    expect(empty).not.toHaveProperty("mcp-param-text");
    expect([ask?.["mcp-name"], again?.["mcp-name"]]).toEqual(["ask", "ask"]);
    expect(server.headers("tools/list")[0]).not.toHaveProperty("mcp-name");
    await host.run("mcp_list", { configPath: host.configPath, server: "server", action: "close" });
    // Neither a session nor a stream for questions belongs to this revision.
    expect(server.ledger().filter(({ event }) => event === "refused" || event === "listen")).toEqual([]);
  });

  test("of invalid annotations make a tool be left out with the reason, and it cannot be called", async () => {
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

  test("do not matter over stdio", async () => {
    const { host } = await setUp("stdio", "headers-invalid");
    const listed = jsonOf(await host.list("server"));
    expect(listed["tools"]).toHaveLength(6);
    expect(listed).not.toHaveProperty("leftOut");
  });

  test("follow a changed annotation by the discovery before the call", async () => {
    const { host, server } = await setUp("http", "header-changes");
    await host.list("server");
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(server.headers("tools/call")[0]).toMatchObject({ "mcp-param-later": "x" });
  });

  test("that do not match end that call, which is not sent again; the next one has fresh headers", async () => {
    const { host, server } = await setUp("http", "header-stale");
    const { code, details } = await host.callFailure("server", "echo", { text: "x" });
    expect(code).toBe("rpc_error");
    expect(details).toMatchObject({ rpcError: { code: -32020 } });
    expect(server.ledger().filter(({ event }) => event === "refused")).toHaveLength(1);
    expect(server.messages("tools/call")).toEqual([]);
    expect(textOf(await host.call("server", "echo", { text: "x" }))).toBe("x");
    expect(server.messages("tools/list")).toHaveLength(2);
  });
});
