import { lookup } from "node:dns/promises";
import { createServer } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type CancelListener, Cancellation } from "../../src/cancellation.ts";
import { LIMITS } from "../../src/limits.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { closeClients, failureOf, httpClient, textOf } from "../support/transport-client.ts";
import { waitFor } from "../support/wait.ts";

const later = (milliseconds: number) => (exchange: FaultExchange) =>
  void setTimeout(() => exchange.good(), milliseconds);

const SCENARIOS: Record<string, Scenario> = {
  plain: {},
  sse: {
    post: (exchange) => {
      exchange.begin();
      exchange.event(exchange.answer());
      exchange.finish();
    },
  },
  // The stream ends a little after the answer.
  "sse-ends-later": {
    post: (exchange) => {
      exchange.begin();
      exchange.event(exchange.answer());
      setTimeout(() => exchange.finish(), 2);
    },
  },
  "sse-never-ends": {
    post: (exchange) => {
      exchange.begin();
      exchange.event(exchange.answer());
    },
  },
  // The socket dies when it is used again after it was idle.
  "keep-alive-kill": {
    on: "*",
    post: (exchange) => (exchange.seen.turn > 1 ? void exchange.socket.resetAndDestroy() : exchange.good()),
  },
  "keep-alive-close": { on: "*", post: (exchange) => (exchange.seen.turn > 1 ? exchange.close() : exchange.good()) },
  slow: { post: later(300) },
  slower: { post: later(30) },
  "hint-short": { post: (exchange) => exchange.good({ "keep-alive": "timeout=1, max=100" }) },
  "hint-long": { post: (exchange) => exchange.good({ "keep-alive": "timeout=600" }) },
  "hangs-up": { post: () => undefined },
};

const server = FaultServer.forTests(SCENARIOS);
beforeEach(() => server.forget());
afterEach(async () => {
  jest.restoreAllMocks();
  await closeClients();
  await waitFor("no socket is left open", () => server.sockets.size === 0, 5000);
});

/** Knows who has not been taken off it. */
class WatchedCancellation extends Cancellation {
  readonly listeners = new Set<CancelListener>();

  override add(listener: CancelListener): void {
    this.listeners.add(listener);
    super.add(listener);
  }

  override delete(listener: CancelListener): void {
    this.listeners.delete(listener);
    super.delete(listener);
  }
}

const now = performance.now.bind(performance);
/** Puts the monotonic clock ahead, until the test is over. */
function putAhead(milliseconds: number): void {
  jest.spyOn(performance, "now").mockImplementation(() => now() + milliseconds);
}

describe("connections are used again", () => {
  test.each(["plain", "sse"])("1,000 calls one after another use at most 2 (%s)", async (scenario) => {
    const before = server.connections;
    const made = await httpClient(server.url(scenario));
    await made.handshake();
    for (let at = 0; at < 1000; at++) await made.call("x");
    expect(server.connections - before).toBeLessThanOrEqual(2);
    expect(server.executions(scenario)).toBe(1000);
  });

  test("64 calls in flight use at most 64, each gets its own answer, and none is open after close", async () => {
    const made = await httpClient(server.url("slower"));
    await made.handshake();
    const before = server.connections;
    for (let round = 0; round < 3; round++) {
      const texts = Array.from({ length: 64 }, (_, at) => `${round}-${at}`);
      expect((await Promise.all(texts.map((text) => made.call(text)))).map(textOf)).toEqual(texts);
    }
    expect(server.connections - before).toBeLessThanOrEqual(64);
    await made.transport.close();
    await waitFor("none is open", () => server.sockets.size === 0, 5000);
  });

  test("a stream that ends soon after its answer is waited for rather than replaced", async () => {
    const limits = { endingMs: 2000, lingerMs: 2000 };
    const made = await httpClient(server.url("sse-ends-later"), { limits });
    const before = server.connections;
    for (let at = 0; at < 20; at++) await made.call("x");
    expect(server.connections - before).toBeLessThanOrEqual(2);
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 16 }, () => made.call("x")));
    expect(server.connections - before).toBeLessThanOrEqual(16);
  });

  test("where streams never end, that is not tried for long", async () => {
    const made = await httpClient(server.url("sse-never-ends"), { limits: { endingMs: 200, lingerMs: 5000 } });
    const startedAt = performance.now();
    for (let at = 0; at < 40; at++) expect(textOf(await made.call("x"))).toBe("x");
    // Three of them wait; with all of them it were 8 s.
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });

  test("one that was idle for too long is not", async () => {
    const made = await httpClient(server.url("plain"));
    await made.call("one");
    const before = server.connections;
    putAhead(LIMITS.idleSocketMs - 10_000);
    await made.call("two");
    expect(server.connections).toBe(before);
    putAhead(2 * LIMITS.idleSocketMs);
    await made.call("three");
    expect(server.connections).toBe(before + 1);
  });

  test("one that was idle while the machine slept is not, though the clock that measures time stood still", async () => {
    const made = await httpClient(server.url("plain"));
    await made.call("one");
    const before = server.connections;
    const woken = Date.now() + 2 * LIMITS.idleSocketMs;
    jest.spyOn(Date, "now").mockReturnValue(woken);
    await made.call("two");
    expect(server.connections).toBe(before + 1);
    await made.call("three");
    expect(server.connections).toBe(before + 1);
  });

  test("a server's announcement can only shorten that", async () => {
    const short = await httpClient(server.url("hint-short"));
    await short.call("one");
    const before = server.connections;
    await short.call("two");
    expect(server.connections).toBe(before + 1);
    const long = await httpClient(server.url("hint-long"));
    await long.call("one");
    putAhead(LIMITS.idleSocketMs);
    await long.call("two");
    expect(server.connections).toBe(before + 3);
  });

  test("a message that asks for a fresh one gets it", async () => {
    const made = await httpClient(server.url("plain"));
    await Promise.all([made.call("a"), made.call("b")]);
    const before = server.connections;
    expect(textOf(await made.call("c", { fresh: true }))).toBe("c");
    expect(server.connections).toBe(before + 1);
    await made.call("d");
    expect(server.connections).toBe(before + 1);
  });
});

describe("stale connections [I08]", () => {
  test.each(["keep-alive-kill", "keep-alive-close"])(
    "%s: 500 times in a row, the call fails unrepeated and a fresh one works",
    async (scenario) => {
      const made = await httpClient(server.url(scenario));
      await made.call("first");
      for (let at = 0; at < 250; at++) {
        expect(await failureOf(made.call("stale"))).toMatchObject({
          situation: "closed",
          details: { outcomeUnknown: true },
        });
        expect(textOf(await made.call("fresh", { fresh: true }))).toBe("fresh");
      }
      expect(server.posts(scenario)).toHaveLength(501);
      expect(server.executions(scenario)).toBe(251);
    },
  );
});

describe("no clock but the caller's ends an exchange [J09]", () => {
  test("neither the idle time nor the server's announcement cuts a slow answer", async () => {
    const made = await httpClient(server.url("slow"), { limits: { idleSocketMs: 20, lingerMs: 20, refusalMs: 20 } });
    await made.request("ping");
    expect(textOf(await made.call("late"))).toBe("late");
  });

  test("giving up before anything was sent sends nothing", async () => {
    const before = server.connections;
    const made = await httpClient(server.url("plain"));
    const cancellation = new Cancellation();
    cancellation.cancel();
    expect((await failureOf(made.call("x", { cancellation }))).situation).toBe("cancelled");
    expect(server.connections).toBe(before);
  });

  test("giving up ends an exchange, and no exchange leaves a listener behind, however it ends", async () => {
    const made = await httpClient(server.url("hangs-up"));
    const cancellation = new WatchedCancellation();
    await made.request("ping", {}, { cancellation });
    await failureOf(made.call("x".repeat(20 << 20), { cancellation }));
    const nobody = await httpClient("http://127.0.0.1:1/");
    await failureOf(nobody.call("x", { cancellation }));
    expect(cancellation.listeners.size).toBe(0);
    const failure = failureOf(made.call("x", { cancellation }));
    await waitFor("the call", () => server.posts("hangs-up").length === 1);
    expect(cancellation.listeners.size).toBe(1);
    cancellation.cancel();
    expect((await failure).situation).toBe("cancelled");
    expect(cancellation.listeners.size).toBe(0);
  });

  test("close ends what is in flight, and says whether it may have run", async () => {
    const made = await httpClient(server.url("hangs-up"));
    const failure = failureOf(made.call("x"));
    await waitFor("the call", () => server.posts("hangs-up").length === 1);
    await made.transport.close();
    expect(await failure).toMatchObject({ situation: "closed.stopped", details: { outcomeUnknown: true } });
  });
});

describe("connecting", () => {
  test("nobody listens: connect_failed, without the query of the URL", async () => {
    const unused = createServer();
    const port = await new Promise<number>((resolve) =>
      unused.listen(0, "127.0.0.1", () => resolve((unused.address() as { port: number }).port)),
    );
    await new Promise((resolve) => unused.close(resolve));
    const made = await httpClient(`http://127.0.0.1:${port}/mcp?key=very-secret`);
    const failure = await failureOf(made.call("x"));
    expect(failure).toMatchObject({
      code: "connect_failed",
      details: { server: "srv", url: `http://127.0.0.1:${port}/mcp`, reason: expect.stringContaining("ECONNREFUSED") },
    });
    expect(`${failure.message}${JSON.stringify(failure.details)}`).not.toContain("very-secret");
  });

  test("a name that does not exist: connect_failed", async () => {
    const made = await httpClient("http://no-such-host.invalid/mcp");
    expect((await failureOf(made.call("x"))).situation).toBe("connect.failed");
  });

  test("an address that the system refuses at once, as all are without a network: connect_failed", async () => {
    const made = await httpClient("http://255.255.255.255:9/mcp");
    expect((await failureOf(made.call("x"))).situation).toBe("connect.failed");
  });

  test.each(["127.0.0.1", "::1"])("localhost works where the server listens on %s only", async (host) => {
    const addresses = await lookup("localhost", { all: true });
    if (host === "::1" && !(await canListen(host))) return;
    const alone = await FaultServer.start({ scenarios: SCENARIOS, host });
    try {
      if (!addresses.some(({ address }) => address === host)) return;
      const made = await httpClient(alone.url("plain", "localhost"));
      expect(textOf(await made.call("hi"))).toBe("hi");
    } finally {
      await closeClients();
      await alone.dispose();
    }
  });
});

describe("a proxy that cuts connections: never twice, never silence", () => {
  let proxy: CuttingProxy;
  beforeAll(async () => {
    proxy = await CuttingProxy.start(server.port);
  });
  afterAll(() => proxy.dispose());

  test.each([
    ["plain", "reset"],
    ["plain", "close"],
    ["sse", "reset"],
    ["sse", "close"],
  ] as const)("%s, cut by %s at every third byte of the answer", async (scenario, how) => {
    proxy.cut = undefined;
    const made = await httpClient(proxy.url(scenario));
    await made.handshake();
    let uncut = 0;
    for (let afterBytes = 0; uncut < 2; afterBytes += 3) {
      proxy.cut = { side: "response", afterBytes, how };
      const runs = server.executions(scenario);
      const outcome = await made.call("x").then(
        (reply) => textOf(reply) ?? "no answer",
        (error: { code: string }) => error.code,
      );
      expect(["x", "no answer", "closed"]).toContain(outcome);
      // A cut behind the answer may still meet the connection of the next call before that is read.
      expect(server.executions(scenario) - runs).toBeLessThanOrEqual(1);
      if (outcome === "x") expect(server.executions(scenario) - runs).toBe(1);
      if (proxy.cut !== undefined) uncut++;
    }
    expect(uncut).toBe(2);
  });

  test("cut while the request is sent: nothing ran, and nothing is sent again", async () => {
    proxy.cut = undefined;
    const made = await httpClient(proxy.url("plain"));
    await made.handshake();
    const runs = server.executions("plain");
    for (let afterBytes = 0; afterBytes < 300; afterBytes += 37) {
      proxy.cut = { side: "request", afterBytes, how: "reset" };
      expect((await failureOf(made.call("x"))).code).toBe("closed");
    }
    expect(server.executions("plain")).toBe(runs);
  });

  test("a proxy that holds a stream back until it is over only delays it", async () => {
    proxy.cut = undefined;
    proxy.bufferMs = 30;
    const made = await httpClient(proxy.url("sse"));
    expect(textOf(await made.call("held"))).toBe("held");
    proxy.bufferMs = 0;
  });
});

async function canListen(host: string): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(0, host, () => probe.close(() => resolve(true)));
  });
}
