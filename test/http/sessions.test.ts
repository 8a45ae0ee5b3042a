import { beforeEach, describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, jsonOf, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const CALL = ["tools/list", "tools/call"];
const CONNECT = ["initialize", "notifications/initialized"];

/** A server with a session for each client, which lives for so many requests; then it says so in its own way. */
function sessions(dead: (exchange: FaultExchange) => void, lives = 3): Scenario {
  return {
    on: "*",
    post: (exchange) => {
      const { server, seen } = exchange;
      if (seen.rpc.method === "initialize") {
        exchange.good({ "mcp-session-id": `${seen.path}-${server.count(`${seen.path} sessions`)}` });
        return;
      }
      const id = seen.headers["mcp-session-id"] ?? "";
      if (!id.startsWith(seen.path) || server.count(id) > lives) dead(exchange);
      else exchange.good();
    },
  };
}

function refusingSecondList(status: number): Scenario {
  return {
    opening: { "mcp-session-id": "s-1" },
    on: "tools/list",
    post: (exchange) => {
      if (exchange.server.count(`${exchange.seen.path} lists`) === 2) exchange.respond(status, {}, "not now");
      else exchange.good();
    },
  };
}

function rpcError(id: unknown, message = "Session not found"): string {
  return JSON.stringify({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error: { code: -32001, message } });
}

/** How real servers say that they do not know a session. */
const DEAD: Record<string, (exchange: FaultExchange) => void> = {
  "404 without a word": (exchange) => exchange.respond(404),
  "404 with a JSON-RPC error without id": (exchange) => exchange.json(rpcError(undefined), 404),
  "404 with a JSON-RPC error for the request": (exchange) => exchange.json(rpcError(exchange.seen.rpc.id), 404),
  "400 in words": (exchange) => exchange.respond(400, {}, "No valid session ID"),
  "400 in other words": (exchange) => exchange.respond(400, {}, "No transport found for sessionId"),
  "400 in words with underscores": (exchange) => exchange.json('{"error":"unknown session_id"}', 400),
  "400 with a null id": (exchange) => exchange.json(rpcError(null), 400),
  "400 without id": (exchange) => exchange.json(rpcError(undefined), 400),
  "400 with a JSON-RPC error for the request": (exchange) => exchange.json(rpcError(exchange.seen.rpc.id), 400),
  "401 in words": (exchange) => exchange.respond(401, {}, "Unauthorized: Session not found"),
  "403 in words": (exchange) => exchange.respond(403, {}, "Invalid session"),
  "403 with a null id": (exchange) => exchange.json(rpcError(null), 403),
  "409": (exchange) => exchange.respond(409),
  "410": (exchange) => exchange.respond(410),
  "422": (exchange) => exchange.json("{}", 422),
  "500 in words": (exchange) => exchange.json(rpcError("server-error", "Session terminated"), 500),
  "503 in words": (exchange) => exchange.json('{"error":"unknown session"}', 503),
  "200 with a JSON-RPC error for the request": (exchange) => exchange.json(rpcError(exchange.seen.rpc.id)),
  "200 with a null id": (exchange) => exchange.json(rpcError(null)),
  "200 with a null id on a stream": (exchange) => {
    exchange.begin();
    exchange.event(rpcError(null));
    exchange.finish();
  },
};

/** Those of them that refuse the request as such, and name the session. */
const IN_WORDS = Object.keys(DEAD).filter((name) => /words|null id|without id|^40. with a JSON-RPC/.test(name));

/** Calls with the text "held" wait until they are let go. */
let held: FaultExchange[] = [];
let gone = false;

/** Refusals of a list that say nothing of its session. */
const LIVING = [408, 429, 500, 503];

const SCENARIOS: Record<string, Scenario> = {
  ...Object.fromEntries(LIVING.map((status) => [`list-${status}`, refusingSecondList(status)])),
  ...Object.fromEntries(Object.entries(DEAD).map(([name, dead]) => [name.replace(/ /g, "-"), sessions(dead)])),
  "404-later": sessions((exchange) => exchange.respond(404), 4),
  // Every list is refused, whatever the session.
  "always-404": sessions((exchange) => exchange.respond(404), 1),
  "always-400": sessions((exchange) => exchange.respond(400), 1),
  // A load balancer that knows by its cookie, new with each answer, which machine has the session.
  sticky: {
    on: "*",
    post: (exchange) => {
      const { server, seen } = exchange;
      const turn = server.count("turns");
      const opening = seen.rpc.method === "initialize";
      if (!opening && !seen.headers["cookie"]?.split("; ").includes(`AWSALB=${turn - 1}`)) exchange.respond(404);
      else {
        const headers = { "set-cookie": `AWSALB=${turn}; Path=/`, ...(opening ? { "mcp-session-id": "s" } : {}) };
        if (seen.rpc.id === undefined) exchange.respond(202, headers);
        else exchange.good(headers);
      }
    },
  },
  // Its tool has sessions of its own.
  "other-sessions": {
    opening: { "mcp-session-id": "s-1" },
    post: (exchange) => exchange.json(rpcError(exchange.seen.rpc.id, "Open a browser session first"), 400),
  },
  "gone-in-call": {
    opening: { "mcp-session-id": "s-1" },
    post: (exchange) => {
      if (exchange.seen.body.includes("held")) held.push(exchange);
      else if (gone) {
        gone = false;
        exchange.respond(404);
      } else exchange.good();
    },
  },
};

const server = FaultServer.forTests(SCENARIOS);
beforeEach(() => {
  server.forget();
  held = [];
  gone = false;
});

function hosting(scenario: string): PluginHarness {
  return make().configure("srv", { url: server.url(scenario) });
}

function methods(scenario: string): (string | undefined)[] {
  return server.requests(scenario, "POST").map(({ rpc }) => rpc.method);
}

describe("a session that the server forgot is met by the discovery, and healed within the same call", () => {
  test("404 for the old session: list, 404, one fresh session, list, call, one execution [I01]", async () => {
    const host = hosting("404-without-a-word");
    expect(textOf(await host.call("srv", "echo", { text: "first" }))).toBe("first");
    expect(textOf(await host.call("srv", "echo", { text: "second" }))).toBe("second");
    expect(methods("404-without-a-word")).toEqual([...CONNECT, ...CALL, "tools/list", ...CONNECT, ...CALL]);
    expect(server.executions("404-without-a-word")).toBe(2);
    const [, second] = server.posts("404-without-a-word", "initialize");
    expect(second?.headers).not.toHaveProperty("mcp-session-id");
  });

  test.each(Object.keys(DEAD))("%s: the next mcp_call succeeds, with one fresh session [I03]", async (name) => {
    const scenario = name.replace(/ /g, "-");
    const host = hosting(scenario);
    await host.call("srv", "echo", { text: "first" });
    expect(textOf(await host.call("srv", "echo", { text: "second" }))).toBe("second");
    expect(server.posts(scenario, "initialize")).toHaveLength(2);
    expect(server.executions(scenario)).toBe(2);
  });

  test("calls in parallel that meet it share one fresh session [I01]", async () => {
    const host = hosting("404-later");
    await host.call("srv", "echo", { text: "first" });
    await host.list("srv");
    const results = await Promise.all([1, 2].map((at) => host.call("srv", "echo", { text: `t${at}` })));
    expect(results.map(textOf)).toEqual(["t1", "t2"]);
    expect(server.posts("404-later", "initialize")).toHaveLength(2);
    expect(server.executions("404-later")).toBe(3);
  });

  test.each(LIVING)(
    "%d is no such word: it is told, and neither a session nor a list is asked for anew",
    async (status) => {
      const host = hosting(`list-${status}`);
      await host.call("srv", "echo", { text: "first" });
      const { code, details } = await host.callFailure("srv", "echo");
      expect({ code, ...details }).toMatchObject({ code: "http_error", status });
      expect(methods(`list-${status}`)).toEqual([...CONNECT, ...CALL, "tools/list"]);
      expect(textOf(await host.call("srv", "echo", { text: "third" }))).toBe("third");
      expect(server.posts(`list-${status}`, "initialize")).toHaveLength(1);
    },
  );

  test("mcp_list is healed the same way", async () => {
    const host = hosting("400-in-words");
    await host.list("srv");
    await host.list("srv");
    expect(jsonOf(await host.list("srv"))).toMatchObject({ tools: [{ name: "echo" }] });
    expect(server.posts("400-in-words", "initialize")).toHaveLength(2);
  });

  test.each([
    ["always-404", "session_expired", 404],
    ["always-400", "http_error", 400],
  ])("%s: a server that refuses every session is asked once more and no further", async (scenario, code, status) => {
    const host = hosting(scenario);
    expect(await host.callFailure("srv", "echo")).toMatchObject({ code, details: { status } });
    expect(server.posts(scenario, "initialize")).toHaveLength(1);
    expect(await host.callFailure("srv", "echo")).toMatchObject({ code, details: { status } });
    expect(server.posts(scenario, "initialize").length).toBeLessThanOrEqual(3);
    expect(server.executions(scenario)).toBe(0);
  });
});

describe("a session that ends between the discovery and the call", () => {
  test("is told as session_expired; nothing is sent again, and the next call has a new session", async () => {
    const host = hosting("gone-in-call");
    await host.call("srv", "echo", { text: "first" });
    gone = true;
    const { code, message, details } = await host.callFailure("srv", "echo", { text: "lost" });
    expect(code).toBe("session_expired");
    expect(message).toContain('"srv"');
    expect(message).toContain("tools/call");
    expect(details).toMatchObject({ status: 404 });
    expect(server.posts("gone-in-call")).toHaveLength(2);
    expect(textOf(await host.call("srv", "echo", { text: "next" }))).toBe("next");
    expect(server.posts("gone-in-call", "initialize")).toHaveLength(2);
    expect(server.executions("gone-in-call")).toBe(2);
  });

  test("and the other calls in flight on it get their answers", async () => {
    const host = hosting("gone-in-call");
    const waiting = host.call("srv", "echo", { text: "held" });
    await waitFor("the call is out", () => held.length === 1);
    gone = true;
    expect((await host.callFailure("srv", "echo", { text: "lost" })).code).toBe("session_expired");
    expect(textOf(await host.call("srv", "echo", { text: "next" }))).toBe("next");
    held[0]?.good();
    expect(textOf(await waiting)).toBe("held");
    expect(server.executions("gone-in-call")).toBe(2);
  });

  test("is told the same way by mcp_request, whose next request has a new session", async () => {
    const host = hosting("404-without-a-word");
    const params = { configPath: host.configPath, server: "srv", method: "ping" };
    for (let at = 0; at < 2; at++) await host.run("mcp_request", params);
    expect((await host.failure("mcp_request", params)).code).toBe("session_expired");
    await host.run("mcp_request", params);
    expect(server.posts("404-without-a-word", "ping")).toHaveLength(4);
  });
});

describe("a session that the server does not know any more, in its own words,", () => {
  test.each(IN_WORDS)("is met by one mcp_request, and the next one has a new session (%s)", async (name) => {
    const scenario = name.replace(/ /g, "-");
    const host = hosting(scenario);
    const params = { configPath: host.configPath, server: "srv", method: "ping" };
    for (let at = 0; at < 2; at++) await host.run("mcp_request", params);
    const { code, message } = await host.failure("mcp_request", params);
    if (code === "http_error")
      expect(message).toContain("The session seems to be over: the next call starts a new one.");
    await host.run("mcp_request", params);
    expect(server.posts(scenario, "initialize")).toHaveLength(2);
    expect(server.posts(scenario, "ping")).toHaveLength(4);
  });

  test("is not taken from an answer, or from the refusal of a tool, which may have sessions of its own", async () => {
    const scenario = "200-with-a-JSON-RPC-error-for-the-request";
    const host = hosting(scenario);
    const params = { configPath: host.configPath, server: "srv", method: "ping" };
    for (let at = 0; at < 2; at++) await host.run("mcp_request", params);
    for (let at = 0; at < 2; at++) await host.failure("mcp_request", params);
    expect(server.posts(scenario, "initialize")).toHaveLength(1);
    const other = hosting("other-sessions");
    for (let at = 0; at < 2; at++) await other.callFailure("srv", "echo");
    expect(server.posts("other-sessions", "initialize")).toHaveLength(1);
  });
});

describe("a session behind a load balancer that sets cookies", () => {
  test("stays on its machine, and another one begins without them", async () => {
    const host = make().configure("srv", { url: server.url("sticky"), headers: { "X-Affinity": "cookie" } });
    for (const text of ["first", "second"]) expect(textOf(await host.call("srv", "echo", { text }))).toBe(text);
    await host.run("mcp_list", { configPath: host.configPath, server: "srv", action: "close" });
    expect(textOf(await host.call("srv", "echo", { text: "third" }))).toBe("third");
    const openings = server.posts("sticky", "initialize");
    expect(openings).toHaveLength(2);
    for (const { headers } of openings) expect(headers).not.toHaveProperty("cookie");
  });

  test("gets the entry's cookie and no other where it has one", async () => {
    const host = make().configure("srv", { url: server.url("sticky"), headers: { Cookie: "mine=1" } });
    expect((await host.callFailure("srv", "echo")).code).toBe("session_expired");
    for (const { headers } of server.posts("sticky")) expect(headers["cookie"]).toBe("mine=1");
  });
});

describe("sessions of different hosts", () => {
  test("two host sessions never share one, nor do a config entry and its url", async () => {
    const one = hosting("gone-in-call");
    const two = make({ beside: one, plugin: one.plugin, context: { cwd: one.folder, sessionId: "another" } });
    await one.call("srv", "echo", { text: "a" });
    await two.call("srv", "echo", { text: "b" });
    const url = server.url("gone-in-call");
    await one.run("mcp_call", { url, tool: "echo", arguments: { text: "c" } });
    await one.run("mcp_call", { url, tool: "echo", arguments: { text: "d" } });
    expect(server.posts("gone-in-call", "initialize")).toHaveLength(3);
    const { connections } = jsonOf(await two.run("mcp_list", { action: "status" })) as { connections: unknown[] };
    expect(connections).toHaveLength(1);
    await two.shutdown();
    expect(textOf(await one.call("srv", "echo", { text: "e" }))).toBe("e");
    expect(server.posts("gone-in-call", "initialize")).toHaveLength(3);
  });
});
