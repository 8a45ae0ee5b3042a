import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Cancellation } from "../../src/cancellation.ts";
import { FaultServer } from "../support/http-fault-server.ts";
import { FAULTS, ODDITIES } from "../support/http-faults.ts";
import { closeClients, failureOf, httpClient, type TransportClient, textOf } from "../support/transport-client.ts";
import { waitFor } from "../support/wait.ts";

/** Noticed when it happens, and not at some timeout; the rest is for a busy machine. */
const PROMPT_MS = 3000;
const FAST = { minRetryMs: 1, defaultRetryMs: 1, resumeAttempts: 3, refusalMs: 100, lingerMs: 50 };

/** Of the newest refusal that does not end. */
let refusing: Socket | undefined;

const server = FaultServer.forTests({
  ...FAULTS,
  ...ODDITIES,
  "refusal-hangs": {
    post: (exchange) => {
      refusing = exchange.socket;
      exchange.begin(503, { "content-type": "text/plain" });
      exchange.chunk("overloaded");
    },
  },
  "answer-hangs": {
    post: (exchange) => {
      refusing = exchange.socket;
      exchange.begin(400, { "content-type": "application/json" });
      const error = { code: -32602, message: "no such city" };
      exchange.chunk(JSON.stringify({ jsonrpc: "2.0", id: exchange.seen.rpc.id, error }));
    },
  },
});
afterEach(closeClients);

async function connected(scenario: string, limits = FAST): Promise<TransportClient> {
  const client = await httpClient(server.url(scenario), { limits });
  await client.handshake();
  return client;
}

describe("a call that fails is sent once, and its end is noticed at once", () => {
  test.each(Object.entries(FAULTS).filter(([, fault]) => !fault.silent))("%s", async (name, fault) => {
    const client = await connected(name);
    const startedAt = performance.now();
    const text = fault.early === undefined ? "x" : "x".repeat(3 << 20);
    const outcome = await client.call(text).then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    );
    expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS);
    if (fault.fails === undefined) expect(outcome).toEqual({ reply: undefined });
    else {
      expect(outcome).toMatchObject({ error: { situation: fault.fails } });
      if (fault.outcomeUnknown !== undefined)
        expect(outcome).toMatchObject({ error: { details: { outcomeUnknown: fault.outcomeUnknown } } });
    }
    expect({ posts: server.posts(name).length, runs: server.executions(name) }).toEqual({ posts: 1, runs: fault.runs });
  });

  test.each(Object.entries(FAULTS).filter(([, fault]) => fault.silent))("%s, given up [J04]", async (name, fault) => {
    const client = await connected(name);
    const before = server.sockets.size;
    const cancellation = new Cancellation();
    const failure = failureOf(client.call("x".repeat(fault.early ? 3 << 20 : 1), { cancellation }));
    await waitFor(
      "the request",
      () =>
        server.requests(name, "POST").length === 3 &&
        (name !== "resume-hangs" || server.requests(name, "GET").length > 0),
    );
    cancellation.cancel();
    const startedAt = performance.now();
    expect((await failure).situation).toBe("cancelled");
    expect(performance.now() - startedAt).toBeLessThan(500);
    await waitFor("the socket is closed at once", () => server.sockets.size < before, 3000);
    expect(server.executions(name)).toBe(fault.runs);
  });

  test("at least 40 ways were tried", () => {
    expect(Object.keys(FAULTS).length).toBeGreaterThanOrEqual(40);
  });
});

describe("a refusal whose words do not end", () => {
  test("is told with the first of them, and its connection is closed", async () => {
    const client = await connected("refusal-hangs");
    const { situation, details } = await failureOf(client.call("x"));
    expect({ situation, ...details }).toMatchObject({ situation: "http.status", status: 503, body: "overloaded…" });
    await waitFor("its socket is closed", () => refusing?.destroyed);
  });

  test("is the answer where they are one, and its connection is closed too", async () => {
    const client = await connected("answer-hangs");
    expect((await client.call("x"))?.error).toEqual({ code: -32602, message: "no such city" });
    await waitFor("its socket is closed", () => refusing?.destroyed);
    expect((await client.request("ping"))?.result).toEqual({});
  });

  test.each(["cancelled", "closed.stopped"])(
    "is not what ends a call that was given up meanwhile (%s)",
    async (how) => {
      const client = await connected("refusal-hangs", { ...FAST, refusalMs: 60_000 });
      const before = server.posts("refusal-hangs").length;
      const cancellation = new Cancellation();
      const failure = failureOf(client.call("x", { cancellation }));
      await waitFor("the call", () => server.posts("refusal-hangs").length > before);
      if (how === "cancelled") cancellation.cancel();
      else await client.transport.close();
      expect((await failure).situation).toBe(how);
    },
  );
});

describe("after a failed call the next one works", () => {
  // Servers recover: the same transport, the next message.
  test.each(["reset-before-head", "json-truncated", "call-503", "sse-reset", "bad-chunk-size", "gzip-broken"])(
    "%s",
    async (name) => {
      const client = await connected(name);
      await failureOf(client.call("lost"));
      expect(await client.request("ping")).toMatchObject({ result: {} });
    },
  );
});

describe("odd answers that are answers all the same [G04] [G12] [H02] [H12]", () => {
  test.each(Object.keys(ODDITIES))("%s", async (name) => {
    const client = await connected(name);
    for (const text of ["first ünïcödé 😀", "second\u2028"]) expect(textOf(await client.call(text))).toBe(text);
    expect(server.executions(name)).toBe(2);
  });
});
