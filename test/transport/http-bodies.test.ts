import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { closeClients, failureOf, httpClient, type TransportClient, textOf } from "../support/transport-client.ts";
import { waitFor } from "../support/wait.ts";

const MiB = 1 << 20;
const GZIP = { "content-type": "application/json", "content-encoding": "gzip" };
/** Gzip members may follow each other: 200 of them unpack to 200 MiB. */
const BOMB = Buffer.concat(Array<Buffer>(200).fill(gzipSync(Buffer.alloc(MiB, " "))));

const BROTLI_BOMB = brotliCompressSync(Buffer.alloc(40 * MiB, " "), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
});

function endless(exchange: FaultExchange, piece: string): void {
  const write = (): void => {
    while (!exchange.socket.destroyed && exchange.socket.writableLength < MiB) exchange.chunk(piece);
    if (!exchange.socket.destroyed) exchange.socket.once("drain", write);
  };
  exchange.answer();
  write();
}

const SCENARIOS: Record<string, Scenario> = {
  bomb: { post: (exchange) => exchange.respond(200, GZIP, BOMB) },
  "bomb-sse": {
    post: (exchange) =>
      exchange.respond(
        200,
        { ...GZIP, "content-type": "text/event-stream" },
        Buffer.concat([gzipSync("data: "), BOMB]),
      ),
  },
  "bomb-br": {
    post: (exchange) => exchange.respond(200, { ...GZIP, "content-encoding": "br" }, BROTLI_BOMB),
  },
  "bomb-refusal": { post: (exchange) => exchange.respond(500, GZIP, BOMB) },
  "endless-json": {
    post: (exchange) => {
      exchange.begin(200, { "content-type": "application/json" });
      endless(exchange, " ".repeat(64 * 1024));
    },
  },
  "endless-event": {
    post: (exchange) => {
      exchange.begin();
      endless(exchange, "x".repeat(64 * 1024));
    },
  },
  "endless-events": {
    post: (exchange) => {
      exchange.begin();
      endless(
        exchange,
        `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${"x".repeat(64 * 1024)}"}}\n\n`,
      );
    },
  },
  announced: {
    post: (exchange) =>
      exchange.respond(200, { "content-type": "application/json", "content-length": String(17 * MiB) }, "{"),
  },
  "large-json": { post: (exchange) => exchange.json(exchange.answer()) },
  "large-gzip": { post: (exchange) => exchange.respond(200, GZIP, gzipSync(exchange.answer(), { level: 1 })) },
  "large-sse": {
    post: (exchange) => {
      exchange.begin();
      exchange.event(exchange.answer());
      exchange.finish();
    },
  },
  "long-progress": {
    post: (exchange) => {
      exchange.begin();
      const note = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"message":"${"x".repeat(100_000)}"}}`;
      for (let at = 0; at < 200; at++) exchange.event(note);
      exchange.event(exchange.answer());
      exchange.finish();
    },
  },
};

const server = FaultServer.forTests(SCENARIOS);
afterEach(closeClients);

function client(scenario: string, options?: Parameters<typeof httpClient>[1]): Promise<TransportClient> {
  return httpClient(server.url(scenario), options);
}

describe("a message beyond 16 MiB", () => {
  test.each(["bomb", "bomb-sse", "bomb-br", "endless-json", "endless-event", "announced"])(
    "%s: fails while it arrives, in little memory",
    async (scenario) => {
      const made = await client(scenario);
      const before = process.memoryUsage.rss();
      let peak = before;
      const watch = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage.rss());
      }, 2);
      const failure = await failureOf(made.call("x"));
      clearInterval(watch);
      expect(failure).toMatchObject({
        code: "limit_exceeded",
        details: { limitBytes: 16 * MiB, outcomeUnknown: true },
      });
      expect(failure.message).toContain("16 MiB");
      expect((Math.max(peak, process.memoryUsage.rss()) - before) / MiB).toBeLessThan(64);
      // A small bomb has arrived whole before it is found out; its connection is as good as any.
      if (!scenario.startsWith("bomb"))
        await waitFor("the connection is closed", () => server.sockets.size === 0, 5000);
      expect(server.posts(scenario)).toHaveLength(1);
    },
  );

  test("a bomb in a refusal is not unpacked further than is quoted", async () => {
    const made = await client("bomb-refusal");
    expect(await failureOf(made.call("x"))).toMatchObject({ situation: "http.status", details: { status: 500 } });
  });

  test("a stream of small messages has a bound of its own", async () => {
    const made = await client("endless-events", { limits: { streamBytes: 3 * MiB } });
    expect(await failureOf(made.call("x"))).toMatchObject({
      situation: "limit.stream",
      details: { limitBytes: 3 * MiB },
    });
    expect(made.received.length).toBeGreaterThan(40);
  });
});

describe("large answers below it", () => {
  test.each(["large-json", "large-gzip", "large-sse"])("12 MiB arrive whole (%s)", async (scenario) => {
    const made = await client(scenario);
    const text = "0123456789abcde\n".repeat((12 * MiB) / 16 - 64 * 1024);
    expect(textOf(await made.call(text)) === text).toBe(true);
  });

  test("progress of more than 16 MiB in all does not hit the bound of one message", async () => {
    const made = await client("long-progress");
    expect(textOf(await made.call("done"))).toBe("done");
    expect(made.received).toHaveLength(201);
  });
});
