import { describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, type PluginHarness } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();

function opening(post: (exchange: FaultExchange) => void): Scenario {
  return { on: "*", post };
}

function result(id: unknown, more: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...more });
}

const BEFORE: Record<string, Scenario> = {
  "a gateway that is down": opening((exchange) => exchange.respond(503, {}, "upstream is down")),
  "a login page": opening((exchange) => exchange.respond(200, { "content-type": "text/html" }, "<html>log in</html>")),
  "a message without end": opening((exchange) =>
    exchange.respond(200, { "content-type": "application/json", "content-length": "99999999" }),
  ),
  "a damaged body": opening((exchange) =>
    exchange.respond(200, { "content-type": "application/json", "content-encoding": "gzip" }, "no gzip at all"),
  ),
};

/** Refuses one method, and is in order otherwise. */
function failing(method: string, fail: (exchange: FaultExchange) => void): Scenario {
  return { on: method, post: fail };
}

const FAILING: Record<string, (exchange: FaultExchange) => void> = {
  redirect: (exchange) => exchange.respond(307, { location: "/elsewhere" }),
  unauthorized: (exchange) => exchange.respond(401, {}),
  "too-large": (exchange) =>
    exchange.respond(200, { "content-type": "application/json", "content-length": "99999999" }),
};

const METHODS = ["initialize", "tools/list", "tools/call"];

const server = FaultServer.forTests({
  ...Object.fromEntries(
    Object.entries(FAILING).flatMap(([name, fail]) =>
      METHODS.map((method) => [`${name}-${method.replace("/", "-")}`, failing(method, fail)]),
    ),
  ),
  ...Object.fromEntries(Object.entries(BEFORE).map(([name, scenario]) => [name.replaceAll(" ", "-"), scenario])),
  "event-stream": { on: "*", get: (exchange) => exchange.respond(503, {}, "down") },
  nothing: { post: (exchange) => exchange.json(result(exchange.seen.rpc.id, {})) },
  silent: { post: () => undefined },
  "broken-then-refused": {
    post: (exchange) => {
      exchange.answer();
      exchange.begin();
      exchange.event("", { id: "e1", retry: 10 });
      exchange.finish();
    },
    get: (exchange) => exchange.respond(401, { "www-authenticate": "Bearer" }, "who are you?"),
  },
  ...Object.fromEntries(["close", "shutdown", "timeout"].map((end) => [`no-stream-${end}`, { get: () => undefined }])),
});

function hosting(scenario: string, entry: object = {}): PluginHarness {
  return make().configure("srv", { url: server.url(scenario.replaceAll(" ", "-")), ...entry });
}

describe("a call that was not sent, since there was no connection, has no unknown outcome", () => {
  test.each(Object.keys(BEFORE))("%s", async (name) => {
    const { message, details } = await hosting(name).callFailure("srv", "echo", { text: "x" });
    expect(message).toContain('"srv"');
    expect(message).not.toMatch(/outcome unknown/i);
    expect(details?.["outcomeUnknown"]).not.toBe(true);
  });

  test("an event stream of the first revision that is refused", async () => {
    const { code, message, details } = await hosting("event-stream", { type: "sse" }).callFailure("srv", "echo");
    expect(code).toBe("http_error");
    expect(message).not.toMatch(/outcome unknown/i);
    expect(details?.["outcomeUnknown"]).not.toBe(true);
  });
});

describe("a call that is still held back has no unknown outcome", () => {
  const listening = { services: { listRoots: async () => [] }, limits: { standingMs: 10_000 } };

  test.each<[string, string, (host: PluginHarness) => unknown]>([
    ["its connection is closed", "close", (host) => host.list("srv", { action: "close" })],
    ["the session shuts down", "shutdown", (host) => host.shutdown()],
    ["its time is over", "timeout", () => undefined],
  ])("where %s while it waits for the stream on which its server may ask", async (_, end, act) => {
    const path = `no-stream-${end}`;
    const host = make(listening).configure("srv", { url: server.url(path) });
    const failing = host.callFailure("srv", "echo", { text: "x" }, { timeoutSeconds: 1 });
    await waitFor("the stream is being opened", () => server.requests(path, "GET").length === 1);
    await act(host);
    const { message, details } = await failing;
    expect(message).not.toMatch(/outcome unknown/i);
    expect(details?.["outcomeUnknown"]).not.toBe(true);
    expect(server.posts(path)).toEqual([]);
  });
});

describe("a call that may have run has an unknown outcome", () => {
  test("where its answer has neither a result nor an error", async () => {
    const { code, message, details } = await hosting("nothing").callFailure("srv", "echo", { text: "x" });
    expect(code).toBe("protocol_error");
    expect(message).toContain("Outcome unknown");
    expect(details).toMatchObject({ outcomeUnknown: true });
  });

  test("where its stream ended without the answer, and the server wants a sign-in to go on with it", async () => {
    const { code, message, details } = await hosting("broken-then-refused").callFailure("srv", "echo", { text: "x" });
    expect(server.executions("broken-then-refused")).toBe(1);
    expect(code).toBe("auth_required");
    expect(message).toContain("Outcome unknown");
    expect(details).toMatchObject({ status: 401, outcomeUnknown: true });
  });

  test("where the session shuts down, or the plugin is loaded anew, while it is out", async () => {
    const host = hosting("silent");
    const call = host.callFailure("srv", "echo", { text: "x" });
    await waitFor("the call has arrived", () => server.posts("silent").length === 1);
    const idle = host.listFailure("missing");
    expect(host.plugin.register(host.api)).toBe(0);
    const { code, message, details } = await call;
    expect(code).toBe("closed");
    expect(message).toContain("Outcome unknown");
    expect(details).toMatchObject({ outcomeUnknown: true });
    expect((await idle).message).not.toMatch(/outcome unknown/i);
  });
});

describe("a failure names the method that met it", () => {
  test.each(Object.keys(FAILING).flatMap((name) => METHODS.map((method) => [name, method] as const)))(
    "%s at %s",
    async (name, method) => {
      const host = hosting(`${name}-${method.replace("/", "-")}`);
      const { message, details } = await host.callFailure("srv", "echo", { text: "x" });
      expect(message).toMatch(new RegExp(`"srv".*${method}`));
      expect(details).toMatchObject({ server: "srv", method });
    },
  );

  test("too-large in a raw exchange", async () => {
    const url = server.url("too-large-tools-list");
    const { message } = await make().failure("mcp_request", { url, method: "tools/list" });
    expect(message).toContain("tools/list");
  });

  test("whose connection is closed meanwhile", async () => {
    const host = hosting("silent");
    const sent = server.posts("silent").length;
    const call = host.callFailure("srv", "echo", { text: "x" });
    await waitFor("the call has arrived", () => server.posts("silent").length === sent + 1);
    await host.run("mcp_list", { server: "srv", configPath: host.configPath, action: "close" });
    expect((await call).message).toContain("was closed during tools/call");
  });
});
