import { beforeEach, describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, type PluginHarness, settle, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const NOTICE_MS = 200;

/** What the server has been sent and does not answer, and the calls that wait. */
let held: FaultExchange[] = [];
let calls: FaultExchange[] = [];

/** Asks during each call; takes no answer and no notice. */
const HOLDS: Scenario = {
  on: "*",
  post: (exchange) => {
    const { method } = exchange.seen.rpc;
    if (method === undefined || method === "notifications/cancelled") held.push(exchange);
    else if (method === "tools/call") {
      calls.push(exchange);
      exchange.begin();
      exchange.event(JSON.stringify({ jsonrpc: "2.0", id: `q${calls.length}`, method: "ping" }));
    } else exchange.good();
  },
};

const server = FaultServer.forTests({
  holds: HOLDS,
  // A connection dies when it is used again.
  stale: {
    on: "*",
    post: (exchange) => {
      const { method } = exchange.seen.rpc;
      if (method === "tools/call") {
        calls.push(exchange);
        exchange.begin();
        exchange.event(JSON.stringify({ jsonrpc: "2.0", id: "q", method: "roots/list" }));
      } else if (method !== undefined) exchange.good();
      else if (exchange.seen.turn > 1) exchange.socket.resetAndDestroy();
      else {
        exchange.respond(202);
        calls[0]?.event(calls[0].answer());
      }
    },
  },
  // Asks before the conversation has begun.
  early: {
    ...HOLDS,
    post: (exchange) => {
      if (exchange.seen.rpc.method !== "initialize") return HOLDS.post?.(exchange);
      exchange.begin();
      exchange.event(JSON.stringify({ jsonrpc: "2.0", id: "early", method: "ping" }));
      setTimeout(() => exchange.event(exchange.answer()), 3 * NOTICE_MS);
    },
  },
  // Asks any number of times during each call.
  insists: {
    ...HOLDS,
    post: (exchange) => {
      void HOLDS.post?.(exchange);
      if (exchange.seen.rpc.method !== "tools/call") return;
      for (let asked = 0; asked < 60; asked++)
        exchange.event(JSON.stringify({ jsonrpc: "2.0", id: `i${asked}`, method: "ping" }));
    },
  },
  // Asks any number of times before the conversation has begun.
  flood: {
    ...HOLDS,
    post: (exchange) => {
      if (exchange.seen.rpc.method !== "initialize") return HOLDS.post?.(exchange);
      exchange.begin();
      for (let asked = 0; asked < 100; asked++)
        exchange.event(JSON.stringify({ jsonrpc: "2.0", id: `p${asked}`, method: "ping" }));
      setTimeout(() => exchange.event(exchange.answer()), 3 * NOTICE_MS);
    },
  },
});
beforeEach(() => {
  held = [];
  calls = [];
});

function setUp(path: string): PluginHarness {
  const host = make({ limits: { noticeMs: NOTICE_MS } });
  return host.configure("server", { type: "http", url: server.url(path) });
}

function isOpen(exchange: FaultExchange | undefined): boolean {
  return exchange !== undefined && server.sockets.has(exchange.socket);
}

async function pass(milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  await waitFor("time has passed", () => performance.now() > end);
}

describe("what nobody waits for, over HTTP", () => {
  test("an answer has as long as the calls that it may belong to, and a moment after them", async () => {
    const host = setUp("holds");
    const call = host.call("server", "echo", { text: "done" });
    await waitFor("the answer has come", () => held.length === 1);
    await pass(4 * NOTICE_MS);
    expect(isOpen(held[0])).toBe(true);
    calls[0]?.event(calls[0].answer());
    expect(textOf(await call)).toBe("done");
    await waitFor("it is given up", () => !isOpen(held[0]), 10 * NOTICE_MS);
  });

  test("an answer is given up after a call that was given up, and so is the notice of that", async () => {
    const host = setUp("holds");
    const step = host.callStep("server", "echo");
    await waitFor("the answer has come", () => held.length === 1);
    step.cancel();
    await settle(step);
    await waitFor("the notice has come", () => held.length === 2);
    await waitFor("both are given up", () => !held.some(isOpen), 10 * NOTICE_MS);
  });

  test("an answer goes out on no connection that was idle while the host thought about it", async () => {
    const listRoots = async (): Promise<{ uri: string }[]> => {
      await pass(300);
      return [{ uri: "file:///x" }];
    };
    const host = make({ services: { listRoots } }).configure("server", { type: "http", url: server.url("stale") });
    const ping = { server: "server", configPath: host.configPath, method: "ping" };
    await Promise.all(Array.from({ length: 3 }, () => host.run("mcp_request", ping)));
    expect(textOf(await host.call("server", "echo", { text: "done" }, { timeoutSeconds: 3 }))).toBe("done");
  });

  test("an answer before the conversation has begun has until then, and a moment after it", async () => {
    const host = setUp("early");
    const list = host.list("server");
    await waitFor("the answer has come", () => held.length === 1);
    await pass(2 * NOTICE_MS);
    expect(isOpen(held[0])).toBe(true);
    await list;
    await waitFor("it is given up", () => !isOpen(held[0]), 10 * NOTICE_MS);
  });

  test("of a flood before the conversation has begun only so many questions are answered at the same time", async () => {
    const host = make({ limits: { noticeMs: 20 * NOTICE_MS, openAnswers: 4 } });
    const list = host.configure("server", { type: "http", url: server.url("flood") }).list("server");
    await waitFor("the first answers have come", () => held.length >= 4);
    await list;
    expect(held.filter(({ seen }) => seen.rpc.method === undefined)).toHaveLength(4);
  });

  test("of such a flood nothing is answered long after the conversation has begun", async () => {
    const host = make({ limits: { noticeMs: NOTICE_MS, openAnswers: 2 } });
    await host.configure("server", { type: "http", url: server.url("flood") }).list("server");
    await pass(4 * NOTICE_MS);
    const { length } = held;
    await pass(3 * NOTICE_MS);
    expect(held).toHaveLength(length);
  });

  test("of a flood during a call, what had to wait for its turn is not answered long after the call", async () => {
    const host = make({ limits: { noticeMs: NOTICE_MS, openAnswers: 2 } });
    const call = host.configure("server", { type: "http", url: server.url("insists") }).call("server", "echo");
    await waitFor("the first answers have come", () => held.length === 2);
    calls[0]?.event(calls[0].answer());
    await call;
    await pass(4 * NOTICE_MS);
    const { length } = held;
    await pass(3 * NOTICE_MS);
    expect(held).toHaveLength(length);
    expect(held.some(isOpen)).toBe(false);
  });
});
