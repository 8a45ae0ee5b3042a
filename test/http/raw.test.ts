import { beforeEach, describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, jsonOf, settle } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();

/** Answers with what it was asked. */
function mirrored({ seen }: FaultExchange, id: unknown = seen.rpc.id): string {
  const { method, params } = seen.rpc;
  return JSON.stringify({ jsonrpc: "2.0", id, result: { method, ...(params === undefined ? {} : { params }) } });
}

function failing({ seen }: FaultExchange, id: unknown = seen.rpc.id): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "no", data: { deep: [1] } } });
}

const SCENARIOS: Record<string, Scenario> = {
  json: { on: "*", post: (exchange) => exchange.json(mirrored(exchange)) },
  sse: {
    on: "*",
    post: (exchange) => {
      exchange.begin();
      exchange.event('{"jsonrpc":"2.0","method":"notifications/message","params":{}}');
      exchange.event('{"jsonrpc":"2.0","id":"other","result":{}}');
      exchange.event(mirrored(exchange));
    },
  },
  "error-200": { on: "*", post: (exchange) => exchange.json(failing(exchange)) },
  "error-400": { on: "*", post: (exchange) => exchange.json(failing(exchange), 400) },
  "error-null-id": { on: "*", post: (exchange) => exchange.json(failing(exchange, null)) },
  "string-id": { on: "*", post: (exchange) => exchange.json(mirrored(exchange, String(exchange.seen.rpc.id))) },
  foreign: { on: "*", post: (exchange) => exchange.json(mirrored(exchange, 424_242)) },
  accepted: { on: "*", post: (exchange) => exchange.respond(202) },
  page: { on: "*", post: (exchange) => exchange.respond(200, { "content-type": "text/html" }, "<p>Hello.</p>") },
  unopened: { on: "*", post: (exchange) => exchange.json('{"error":"not initialized"}', 400) },
  "not-found": { on: "*", post: (exchange) => exchange.respond(404, {}, "no such page") },
  busy: { on: "*", post: (exchange) => exchange.respond(503, { "retry-after": "0" }) },
  locked: { on: "*", post: (exchange) => exchange.respond(401, { "www-authenticate": 'Bearer realm="r"' }) },
  moved: { on: "*", post: (exchange) => exchange.respond(308, { location: "/json" }) },
  reset: { on: "*", post: (exchange) => exchange.reset() },
  "session-id": { on: "*", post: (exchange) => exchange.json(mirrored(exchange), 200, { "mcp-session-id": "s" }) },
  "sse-ends": {
    on: "*",
    post: (exchange) => {
      exchange.begin();
      exchange.event("", { id: "e1", retry: 1 });
      exchange.finish();
    },
  },
  silent: { on: "*", post: () => undefined },
};

const server = FaultServer.forTests(SCENARIOS);
beforeEach(() => server.forget());

/** A url target has no entry whose headers could be checked. */
const NO_ENTRY = expect.stringContaining("configure the server");

function raw(scenario: string, more: object = {}): Record<string, unknown> {
  return { url: server.url(scenario), method: "vendor/method", ...more };
}

describe("mcp_request with a url is one exchange", () => {
  test.each(["json", "sse"])(
    "answered by %s: the whole response, without a handshake or a session",
    async (scenario) => {
      const host = make();
      const result = await host.run("mcp_request", raw(scenario, { params: { a: [1] }, id: 7 }));
      const response = { jsonrpc: "2.0", id: 7, result: { method: "vendor/method", params: { a: [1] } } };
      expect(jsonOf(result)).toEqual(response);
      expect(result.details).toEqual(response);
      const [seen, ...more] = server.requests(scenario);
      expect(more).toEqual([]);
      expect(seen?.rpc).toEqual({ jsonrpc: "2.0", id: 7, method: "vendor/method", params: { a: [1] } });
      expect(seen?.headers).not.toHaveProperty("mcp-session-id");
      expect(seen?.headers["accept"]).toBe("application/json, text/event-stream");
      expect((await host.run("mcp_list", { action: "status" })).details).toEqual({ connections: [] });
      await waitFor("its socket is closed", () => server.sockets.size === 0);
    },
  );

  test.each([
    ["empty ones", { params: {} }, { params: {} }],
    ["none", {}, {}],
    ["null", { params: null }, {}],
  ])("whose params are sent as they are given: %s", async (_, given, sent) => {
    await make().run("mcp_request", raw("json", given));
    expect(server.requests("json")[0]?.rpc).toEqual({ jsonrpc: "2.0", id: 1, method: "vendor/method", ...sent });
  });

  test.each([
    ["a string", "req-1"],
    ["a number in a string", "12"],
    ["an integer", 12],
    ["zero", 0],
    ["below zero", -3],
  ])("whose id may be %s", async (_, id) => {
    const result = await make().run("mcp_request", raw("json", { id }));
    expect(server.requests("json")[0]?.rpc.id).toBe(id);
    expect(jsonOf(result)["id"]).toBe(id);
  });

  test.each([null, ""])("whose id is 1 where none is meant (%p)", async (id) => {
    expect(jsonOf(await make().run("mcp_request", raw("json", { id })))["id"]).toBe(1);
  });

  test.each(["initialize", "server/discover", "tools/call", "roots/list", "ping", "resources/subscribe"])(
    "of any method, %s too",
    async (method) => {
      expect(jsonOf(await make().run("mcp_request", raw("json", { method })))["result"]).toEqual({ method });
      expect(server.requests("json")).toHaveLength(1);
    },
  );

  test.each(["error-200", "error-400", "error-null-id"])(
    "%s: an error of the server is given whole, as an answer",
    async (scenario) => {
      expect(jsonOf(await make().run("mcp_request", raw(scenario)))).toMatchObject({
        error: { code: -32000, message: "no", data: { deep: [1] } },
      });
    },
  );

  test("that declares its revision carries the headers that servers of that revision want, and no other does", async () => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { name: "grüße", arguments: {} };
    await make().run("mcp_request", raw("json", { method: "tools/call", params: { ...params, _meta } }));
    await make().run("mcp_request", raw("json", { method: "tools/call", params }));
    const [declared, plain] = server.requests("json").map(({ headers }) => headers);
    expect(declared).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "=?base64?Z3LDvMOfZQ==?=",
    });
    for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name"]) expect(plain).not.toHaveProperty(name);
  });

  test("an id that comes back as a string is ours [B01]", async () => {
    expect(jsonOf(await make().run("mcp_request", raw("string-id", { id: 5 })))["result"]).toEqual({
      method: "vendor/method",
    });
  });

  test("a session id that comes with the answer is neither kept nor ended", async () => {
    await make().run("mcp_request", raw("session-id", { method: "initialize" }));
    expect(server.requests("session-id")).toHaveLength(1);
  });

  test.each([
    ["foreign", "protocol_error", {}],
    ["accepted", "protocol_error", {}],
    ["page", "protocol_error", { contentType: "text/html" }],
    ["unopened", "http_error", { status: 400, hint: expect.stringContaining("handshake") }],
    ["not-found", "http_error", { status: 404, body: "no such page" }],
    ["busy", "http_error", { status: 503 }],
    ["locked", "auth_required", { status: 401, wwwAuthenticate: 'Bearer realm="r"', hint: NO_ENTRY }],
    ["moved", "http_error", { status: 308 }],
    ["reset", "closed", { outcomeUnknown: true }],
    ["sse-ends", "protocol_error", {}],
  ])("that fails as it must (%s: %s), once", async (scenario, code, details) => {
    const opened: string[] = [];
    const host = make({ services: { openUrl: async (url) => void opened.push(url) } });
    const failure = await host.failure("mcp_request", raw(scenario));
    expect(failure).toMatchObject({ code, details });
    expect(failure.message).toContain(failure.details?.["hint"] ?? "");
    expect(failure.message).not.toMatch(/\n\s+at /);
    expect(server.requests(scenario)).toHaveLength(1);
    expect(opened).toEqual([]);
  });

  test("that ends with its timeout, or when it is cancelled, and closes its socket then [J04]", async () => {
    const host = make();
    expect(await host.failure("mcp_request", raw("silent", { timeoutSeconds: 1 }))).toMatchObject({
      code: "timeout",
      details: { seconds: 1, outcomeUnknown: true },
    });
    await waitFor("its socket is closed", () => server.sockets.size === 0);
    const step = host.step("mcp_request", raw("silent"));
    await waitFor("the request", () => server.requests("silent").length === 2);
    step.cancel();
    expect(await settle(step)).toMatchObject({ tag: "err", code: "cancelled" });
    await waitFor("its socket is closed", () => server.sockets.size === 0);
  });

  test("has no connection left when a shutdown resolves, however far it had come", async () => {
    const sockets = (): number => process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS)/.test(name)).length;
    await waitFor("no socket is left of other tests", () => server.sockets.size === 0);
    const before = sockets();
    for (const scenario of ["silent", "sse", "json"]) {
      for (const arrives of [true, false]) {
        const host = make();
        const step = host.step("mcp_request", raw(scenario));
        if (arrives) await waitFor("the request", () => server.requests(scenario).length > 0);
        await host.shutdown();
        // A closed handle is counted until the turn is over; what is left then are the server's ends.
        for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
        expect(sockets() - before).toBeLessThanOrEqual(server.sockets.size);
        await waitFor("its socket is closed", () => server.sockets.size === 0);
        step.destroy();
        server.forget();
      }
    }
  });

  test("that a host may deny before anything is sent", async () => {
    const asked: unknown[] = [];
    const host = make({ services: { approve: async (request) => void asked.push(request) as unknown as boolean } });
    expect((await host.failure("mcp_request", raw("json"))).code).toBe("denied");
    expect(asked).toMatchObject([{ action: "start", url: server.url("json") }]);
    expect(server.requests("json")).toEqual([]);
  });

  test("that calls a tool is asked about as every call of a tool", async () => {
    const asked: unknown[] = [];
    const allowed = { start: true, call: false };
    const host = make({
      services: {
        approve: async (request) => {
          asked.push(request);
          return allowed[request.action];
        },
      },
    });
    const params = { name: "drop", arguments: { table: "users" } };
    const failure = await host.failure("mcp_request", raw("json", { method: "tools/call", params }));
    expect(failure).toMatchObject({ code: "denied", details: { tool: "drop" } });
    expect(asked).toMatchObject([
      { action: "start", url: server.url("json") },
      { action: "call", tool: "drop", arguments: { table: "users" } },
    ]);
    expect(server.requests("json")).toEqual([]);
    allowed.call = true;
    await host.run("mcp_request", raw("json", { method: "tools/call", params }));
    await host.run("mcp_request", raw("json", { method: "tools/call", params: { name: 7 } }));
    // A name that is too long to show whole is not shown as another.
    await host.run("mcp_request", raw("json", { method: "tools/call", params: { name: "x".repeat(300) } }));
    expect(asked.slice(2)).toMatchObject([
      { action: "call" },
      { action: "call", tool: "7" },
      { action: "call", tool: `${"x".repeat(200)}…` },
    ]);
    expect(server.requests("json")).toHaveLength(3);
  });
});
