import { beforeEach, describe, expect, test } from "@jest/globals";
import { Cancellation } from "../../src/cancellation.ts";
import type { HostServices } from "../../src/contract.ts";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { httpClient, textOf as textOfReply } from "../support/transport-client.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const OPENING = { "mcp-session-id": "session-1" };

let streams: FaultExchange[] = [];

/** A server that accepts a call and answers it on the standing stream, `delayMs` later or never. */
function apart(delayMs: number | undefined, get?: (exchange: FaultExchange) => void): Scenario {
  return {
    opening: OPENING,
    get:
      get ??
      ((exchange) => {
        streams.push(exchange);
        exchange.begin();
        exchange.event(JSON.stringify({ jsonrpc: "2.0", method: "notifications/unknown", params: {} }));
      }),
    on: "*",
    post: (exchange) => {
      if (exchange.seen.rpc.method !== "tools/call") return exchange.good();
      exchange.respond(202);
      if (delayMs !== undefined) setTimeout(() => streams.at(-1)?.event(exchange.answer()), delayMs);
    },
  };
}

/** Answers calls and lists there, drops what comes while no stream stands open, and ends each after its first answer. */
function apartForAll(): Scenario {
  return {
    opening: OPENING,
    get: (exchange) => {
      streams.push(exchange);
      exchange.begin();
      exchange.chunk("retry: 20\n\n");
    },
    on: "*",
    post: async (exchange) => {
      if (exchange.seen.rpc.method?.startsWith("tools/") !== true) return exchange.good();
      exchange.respond(202);
      if (exchange.seen.rpc.method === "tools/call") await waitFor("a stream is open", () => streams.length > 0);
      const stream = streams.pop();
      stream?.event(exchange.answer());
      stream?.finish();
    },
  };
}

const server = FaultServer.forTests({
  all: apartForAll(),
  soon: apart(0),
  later: apart(300),
  never: apart(undefined),
  "no-stream": apart(0, (exchange) => exchange.respond(405)),
  "stream-ends": apart(0, (exchange) => {
    exchange.begin();
    exchange.chunk("retry: 20\n\n");
    exchange.finish();
  }),
});
beforeEach(() => {
  streams = [];
});

function setUp(path: string, services?: HostServices): PluginHarness {
  const host = make({ ...(services === undefined ? {} : { services }), limits: { resumeAttempts: 3, minRetryMs: 20 } });
  return host.configure("server", { type: "http", url: server.url(path) });
}

describe("a call that a server accepts, to answer it on the standing stream,", () => {
  test("is answered, each with its own answer", async () => {
    const host = setUp("soon", { listRoots: async () => [] });
    for (const text of ["one", "two"]) expect(textOf(await host.call("server", "echo", { text }))).toBe(text);
    const texts = ["a", "b", "c"];
    const answers = await Promise.all(texts.map((text) => host.call("server", "echo", { text })));
    expect(answers.map(textOf)).toEqual(texts);
    expect(streams).toHaveLength(1);
  });

  test("is answered also where the host answers no questions: the stream is opened for it, and before later ones", async () => {
    const host = setUp("later");
    expect(textOf(await host.call("server", "echo", { text: "one" }))).toBe("one");
    expect(streams).toHaveLength(1);
    expect(textOf(await host.call("server", "echo", { text: "two" }))).toBe("two");
    expect(streams).toHaveLength(1);
  });

  test.each(["no-stream", "stream-ends"])("fails at once where no stream can bring it (%s)", async (path) => {
    const host = setUp(path);
    const startedAt = performance.now();
    expect(await host.callFailure("server", "echo", { text: "x" })).toMatchObject({
      code: "protocol_error",
      details: { outcomeUnknown: true },
    });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(server.posts(path).filter(({ rpc }) => rpc.method === "tools/call")).toHaveLength(1);
  });

  test("ends when it is given up, and in time", async () => {
    const host = setUp("never");
    const step = host.callStep("server", "echo", { text: "x" });
    await waitFor("it waits", () => streams.length === 1);
    step.cancel();
    expect(step.poll()).toMatchObject({ tag: "err", code: "cancelled" });
    const late = await host.failure("mcp_call", { ...host.callParams("server", "echo", {}), timeoutSeconds: 1 });
    expect(late).toMatchObject({ code: "timeout", details: { outcomeUnknown: true } });
  });

  test("has the stream opened before later lists too, which may be answered there", async () => {
    const client = await httpClient(server.url("all"));
    await client.handshake();
    expect(textOfReply(await client.call("x", { mayAsk: true }))).toBe("x");
    // What was sent before them is read by then: the end of the stream.
    for (let count = 0; count < 3; count++) await client.request("ping");
    const cancellation = new Cancellation();
    const callOff = setTimeout(() => cancellation.cancel(), 5000);
    const listed = await client.request("tools/list", {}, { cancellation }).catch(() => undefined);
    clearTimeout(callOff);
    expect(listed).toMatchObject({ result: { tools: [{ name: "echo" }] } });
    await client.transport.close();
  });
});
