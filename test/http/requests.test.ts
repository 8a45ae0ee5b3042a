import { beforeEach, describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { type HarnessOptions, harnesses, type PluginHarness, settle, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const VERSION = "2025-11-25";
const TIMES = 100;

/** Refuses whatever does not carry the version and the session, or carries them too early; streams can be resumed. */
function strict(sessionId: string): Scenario {
  const checked = (act: (exchange: FaultExchange) => void) => (exchange: FaultExchange) => {
    const { headers, rpc } = exchange.seen;
    const carries = headers["mcp-protocol-version"] === VERSION && headers["mcp-session-id"] === sessionId;
    const bare = !("mcp-protocol-version" in headers) && !("mcp-session-id" in headers);
    if (rpc.method === "initialize" ? bare : carries) act(exchange);
    else {
      exchange.server.count("refused");
      exchange.respond(400, {}, "headers");
    }
  };
  return {
    on: "*",
    post: checked((exchange) => {
      if (exchange.seen.rpc.method === "initialize") return exchange.good({ "mcp-session-id": sessionId });
      if (exchange.seen.rpc.method !== "tools/call") return exchange.good();
      exchange.server.executed.push(exchange.seen.path);
      exchange.begin();
      exchange.event("", { id: "e1", retry: 1 });
      exchange.finish();
    }),
    get: checked((exchange) => {
      if (exchange.seen.headers["last-event-id"] === undefined) return exchange.respond(405);
      const id = exchange.server.posts(exchange.seen.path.slice(1)).at(-1)?.rpc.id;
      exchange.begin();
      exchange.event(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "resumed" }] } }));
      exchange.finish();
    }),
    delete: checked((exchange) => {
      exchange.server.count("deleted");
      exchange.respond(204);
    }),
  };
}

const ODD_ID = "~!".repeat(1500);
/** A list that arrives on a connection used before: as if it had been idle for too long. */
const isStale = ({ seen }: FaultExchange): boolean => seen.rpc.method === "tools/list" && seen.turn > 1;
let held: FaultExchange[] = [];

const SCENARIOS: Record<string, Scenario> = {
  plain: {},
  strict: strict("s-1"),
  "strict-odd-id": strict(ODD_ID),
  "idle-reset": {
    on: "*",
    post: (exchange) => (isStale(exchange) ? exchange.reset() : exchange.good()),
  },
  "idle-close": { on: "*", post: (exchange) => (isStale(exchange) ? exchange.close() : exchange.good()) },
  "idle-closed-later": {
    on: "*",
    post: (exchange) => {
      exchange.good();
      // Unless it is used again by then, as far as the server knows; after a list it stays open a little longer.
      if (exchange.seen.rpc.method === "tools/list") return;
      setTimeout(() => {
        const { connection, turn } = exchange.server.seen.at(-1) ?? {};
        if (connection === exchange.seen.connection && turn === exchange.seen.turn) exchange.close();
      }, 1);
    },
  },
  "keepalive-short": { on: "*", post: (exchange) => exchange.good({ "keep-alive": "timeout=1" }) },
  "closed-after-each": {
    on: "*",
    post: (exchange) => {
      exchange.good({ connection: "close" });
      exchange.close();
    },
  },
  "held-together": {
    post: (exchange) => {
      held.push(exchange);
      if (held.length < 64) return;
      // The last comes first.
      for (const each of held.splice(0).reverse()) each.good();
    },
  },
  /** Calls are answered once there are three; then every connection there is dies with the next list on it. */
  "all-stale": {
    on: "*",
    post: (exchange) => {
      if (isStale(exchange) && exchange.server.state.has("stale")) return exchange.reset();
      if (!exchange.seen.body.includes("three")) return exchange.good();
      held.push(exchange);
      if (held.length === 3) for (const each of held.splice(0)) each.good();
    },
  },
  /** Calls are answered once there are three; a call on a connection that was idle for longer is lost. */
  "three-at-once": {
    on: "*",
    post: (exchange) => {
      const { socket, seen } = exchange;
      const last = idle.get(socket);
      idle.set(socket, performance.now());
      if (seen.rpc.method !== "tools/call") return exchange.good();
      if (last !== undefined && performance.now() - last > 500) return exchange.reset();
      if (!seen.body.includes("three")) return exchange.good();
      held.push(exchange);
      if (held.length === 3) for (const each of held.splice(0)) each.good();
    },
  },
};
/** Since when a connection is idle, where a scenario looks. */
const idle = new WeakMap<object, number>();

const server = FaultServer.forTests(SCENARIOS);
beforeEach(() => {
  server.forget();
  held = [];
});

function hosting(scenario: string, options: HarnessOptions = {}, entry: object = {}): PluginHarness {
  return make(options).configure("srv", { url: server.url(scenario), ...entry });
}

describe("version and session", () => {
  test.each(["strict", "strict-odd-id"])(
    "%s: go with every POST, notice, GET and DELETE after initialize, and never with it [I05]",
    async (scenario) => {
      const host = hosting(scenario, { services: { listRoots: async () => [] } });
      for (let at = 0; at < 2; at++) expect(textOf(await host.call("srv", "echo"))).toBe("resumed");
      const params = { configPath: host.configPath, server: "srv" };
      await host.run("mcp_request", { ...params, method: "ping" });
      await host.run("mcp_list", { ...params, action: "close" });
      await waitFor("the session is ended", () => server.state.get("deleted") === 1);
      expect(server.state.get("refused")).toBeUndefined();
      expect(server.executions(scenario)).toBe(2);
      expect(server.requests(scenario, "GET").map(({ headers }) => headers["last-event-id"])).toEqual(
        expect.arrayContaining([undefined, "e1"]),
      );
      expect(server.requests(scenario, "DELETE")).toHaveLength(1);
    },
  );

  test("the session is ended when the host's session ends [I05]", async () => {
    const host = hosting("strict");
    await host.call("srv", "echo");
    await host.shutdown();
    expect(server.requests("strict", "DELETE")).toHaveLength(1);
    expect(server.state.get("refused")).toBeUndefined();
  });
});

describe("connections that died while they were idle", () => {
  test.each(["idle-reset", "idle-close", "idle-closed-later", "keepalive-short", "closed-after-each"])(
    `%s: ${TIMES} calls in a row succeed, one execution each [I08]`,
    async (scenario) => {
      const host = hosting(scenario);
      for (let at = 0; at < TIMES; at++)
        expect(textOf(await host.call("srv", "echo", { text: `t${at}` }))).toBe(`t${at}`);
      expect(server.executions(scenario)).toBe(TIMES);
      expect(server.posts(scenario)).toHaveLength(TIMES);
      expect(server.posts(scenario, "initialize")).toHaveLength(1);
    },
  );

  test("the discovery meets one of them, and not the next [I08]", async () => {
    const host = hosting("all-stale");
    await Promise.all([1, 2, 3].map((at) => host.call("srv", "echo", { text: `three ${at}` })));
    server.count("stale");
    expect(textOf(await host.call("srv", "echo", { text: "after" }))).toBe("after");
    expect(server.executions("all-stale")).toBe(4);
    expect(server.posts("all-stale", "initialize")).toHaveLength(1);
  });

  test("calls in parallel meet none of them, though the discovery used another [I08]", async () => {
    const host = hosting("three-at-once", { limits: { trustedIdleMs: 100 } });
    const three = (): Promise<unknown> =>
      Promise.all([1, 2, 3].map((at) => host.call("srv", "echo", { text: `three ${at}` })));
    await three();
    const startedAt = performance.now();
    // One of the connections stays in use.
    while (performance.now() - startedAt < 600) await host.list("srv");
    await three();
    expect(server.executions("three-at-once")).toBe(6);
  });

  test("a call that waited for an approval does not go out on one [I08]", async () => {
    let approve: (yes: boolean) => void = () => undefined;
    const asked = { start: 0, call: 0 };
    const host = hosting("three-at-once", {
      limits: { trustedIdleMs: 100 },
      services: {
        approve: ({ action }) => {
          asked[action]++;
          return action === "start" ? Promise.resolve(true) : new Promise((resolve) => (approve = resolve));
        },
      },
    });
    const step = host.callStep("srv", "echo", { text: "late" });
    await waitFor("the question", () => asked.call === 1);
    for (const socket of server.sockets) idle.set(socket, performance.now() - 600);
    const askedAt = performance.now();
    await waitFor("it has taken a while", () => performance.now() - askedAt > 150);
    approve(true);
    expect((await settle(step)).tag).toBe("done");
    expect(server.executions("three-at-once")).toBe(1);
  });
});

describe("many calls", () => {
  test("64 in flight: each gets its own answer, in whatever order they come, on at most 65 sockets", async () => {
    const host = hosting("held-together");
    const before = server.connections;
    const texts = Array.from({ length: 64 }, (_, at) => `t${at}`);
    expect((await Promise.all(texts.map((text) => host.call("srv", "echo", { text })))).map(textOf)).toEqual(texts);
    expect(server.executions("held-together")).toBe(64);
    expect(server.posts("held-together", "initialize")).toHaveLength(1);
    expect(server.connections - before).toBeLessThanOrEqual(65);
  });
});

describe("headers of an entry", () => {
  test("go with every request to its URL, and stand in no result, error or status", async () => {
    const secret = "tok-0123456789";
    const host = hosting("plain", {}, { headers: { Authorization: `Bearer ${secret}`, "X-Team": "blue-team-1" } });
    await host.call("srv", "echo");
    for (const { headers } of server.requests("plain"))
      expect(headers).toMatchObject({ authorization: `Bearer ${secret}`, "x-team": "blue-team-1" });
    const shown = JSON.stringify([
      await host.list("srv"),
      await host.run("mcp_list", { configPath: host.configPath }),
      await host.run("mcp_list", { action: "status" }),
    ]);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain("blue-team-1");
  });

  test.each([
    [
      "a refusal that repeats them",
      (exchange: FaultExchange) => exchange.respond(403, {}, JSON.stringify(exchange.seen.headers)),
    ],
    [
      "an error that repeats them",
      (exchange: FaultExchange) =>
        exchange.json(
          JSON.stringify({
            jsonrpc: "2.0",
            id: exchange.seen.rpc.id,
            error: { code: 1, message: JSON.stringify(exchange.seen.headers) },
          }),
        ),
    ],
    [
      "a page that repeats them",
      (exchange: FaultExchange) =>
        exchange.respond(200, { "content-type": "text/html" }, exchange.seen.headers["authorization"]),
    ],
    [
      "a challenge that repeats them",
      (exchange: FaultExchange) =>
        exchange.respond(401, { "www-authenticate": `Bearer realm="${exchange.seen.headers["authorization"]}"` }),
    ],
  ])("are left out of %s", async (_, post) => {
    const secret = "tok-0123456789";
    const one = await FaultServer.start({ scenarios: { mcp: { post } } });
    try {
      const host = make().configure("srv", {
        url: one.url("mcp"),
        headers: { Authorization: `Bearer ${secret}` },
        oauth: false,
      });
      const failure = await host.callFailure("srv", "echo");
      expect(JSON.stringify(failure)).not.toContain(secret);
      expect(one.posts("mcp")[0]?.headers["authorization"]).toContain(secret);
    } finally {
      await one.dispose();
    }
  });
});

describe("a url instead of a server", () => {
  test("is listed and called like a configured one, and shown and closed by its url", async () => {
    const host = make();
    const url = server.url("plain");
    const listed = await host.run("mcp_list", { url });
    expect(listed.details).toMatchObject({ protocolVersion: VERSION, tools: [{ name: "echo" }] });
    expect(textOf(await host.run("mcp_call", { url, tool: "echo", arguments: { text: "hi" } }))).toBe("hi");
    expect(server.posts("plain", "initialize")).toHaveLength(1);
    expect((await host.run("mcp_list", { action: "status" })).details).toMatchObject({ connections: [{}] });
    expect((await host.run("mcp_list", { url, action: "close" })).details).toMatchObject({ closed: true });
    expect((await host.run("mcp_list", { action: "status" })).details).toEqual({ connections: [] });
  });

  test.each(["ftp://127.0.0.1/", "file:///etc/passwd", "http://user:secret-word@127.0.0.1/", "not a url", "", "//x"])(
    "%j is refused before anything is sent",
    async (url) => {
      const host = make();
      for (const [tool, more] of [
        ["mcp_list", {}],
        ["mcp_call", { tool: "echo" }],
        ["mcp_request", { method: "ping" }],
      ] as const) {
        const { code, message } = await host.failure(tool, { url, ...more });
        expect(code).toBe("invalid_params");
        expect(message).toContain("url");
        expect(message).not.toContain("secret-word");
      }
    },
  );

  test("where nobody listens is a connect_failed that names it", async () => {
    const gone = await FaultServer.start({ scenarios: {} });
    const url = gone.url("mcp");
    await gone.dispose();
    const { code, message } = await make().failure("mcp_call", { url, tool: "echo" });
    expect(code).toBe("connect_failed");
    expect(message).toContain(url);
  });
});
