import { beforeEach, describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { harnesses, type PluginHarness, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const NOTICE = "notifications/initialized";

/** This happens to the message; the second time, and to what is not of it, all is well. */
function once(on: string, fails: (exchange: FaultExchange) => void): Scenario {
  return {
    on,
    post: (exchange) =>
      exchange.server.count(`${exchange.seen.path} ${on}`) === 1 ? fails(exchange) : exchange.good(),
  };
}

const SCENARIOS: Record<string, Scenario> = {
  "notice-400": { on: NOTICE, post: (exchange) => exchange.respond(400, {}, "no") },
  "notice-404": { on: NOTICE, post: (exchange) => exchange.respond(404) },
  "notice-500": { on: NOTICE, post: (exchange) => exchange.respond(500) },
  "notice-stale": once(NOTICE, (exchange) => exchange.reset()),
  "notice-never": { on: NOTICE, post: (exchange) => exchange.reset() },
  "empty-answer": { on: "initialize", post: (exchange) => exchange.json("") },
  "empty-stream": {
    on: "initialize",
    post: (exchange) => {
      exchange.begin();
      exchange.finish();
    },
  },
  breaks: { on: "initialize", post: (exchange) => exchange.reset() },
  // Answers nothing to what is tried after its refusal, until an older revision is offered.
  "silent-guess": {
    on: "*",
    post: (exchange) => {
      const { id, method } = exchange.seen.rpc;
      if (method === "server/discover") return;
      if (method !== "initialize" || exchange.server.count(`${exchange.seen.path} initialize`) > 1) exchange.good();
      else exchange.json(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32600, message: "no" } }));
    },
  },
  "refused-null": refusing(null),
  "refused-without": refusing(undefined),
};

/** Refuses the handshake with an error for no request in particular. */
function refusing(id: unknown): Scenario {
  const error = { code: -32000, message: "come back tomorrow" };
  return { on: "*", post: (exchange) => exchange.json(JSON.stringify({ jsonrpc: "2.0", id, error })) };
}

const server = FaultServer.forTests(SCENARIOS);
beforeEach(() => server.forget());

function hosting(scenario: string): PluginHarness {
  return make().configure("srv", { url: server.url(scenario), protocol: "2025-06-18" });
}

describe("the notice that ends the handshake", () => {
  test.each(["notice-400", "notice-404", "notice-500"])(
    "may be refused: whether the server can be used shows with the first request (%s)",
    async (scenario) => {
      expect(textOf(await hosting(scenario).call("srv", "echo", { text: "used" }))).toBe("used");
      expect(server.posts(scenario, NOTICE)).toHaveLength(1);
    },
  );

  test("goes out once more where its connection broke, on a fresh one", async () => {
    expect(textOf(await hosting("notice-stale").call("srv", "echo", { text: "used" }))).toBe("used");
    const [first, second] = server.posts("notice-stale", NOTICE);
    expect(second?.connection).toBeGreaterThan(first?.connection ?? Number.NaN);
    expect(server.posts("notice-stale", "initialize")).toHaveLength(1);
  });

  test("that breaks every connection is a failed one, and told at once", async () => {
    const { code, details } = await hosting("notice-never").callFailure("srv", "echo");
    expect({ code, ...details }).toMatchObject({ code: "connect_failed", server: "srv" });
    expect(server.posts("notice-never", NOTICE)).toHaveLength(2);
    expect(server.posts("notice-never", "tools/list")).toEqual([]);
  });
});

describe("a handshake", () => {
  test.each(["empty-answer", "empty-stream"])("that ends without an answer is told at once (%s)", async (scenario) => {
    const { code, message, details } = await hosting(scenario).callFailure("srv", "echo");
    expect({ code, ...details }).toMatchObject({ code: "protocol_error", method: "initialize" });
    expect(message).toContain("without an answer");
    expect(message).not.toMatch(/outcome unknown/i);
    expect(server.posts(scenario, "initialize")).toHaveLength(1);
  });

  test("that breaks off is a failed connection, which says how", async () => {
    const { code, message } = await hosting("breaks").callFailure("srv", "echo");
    expect(code).toBe("connect_failed");
    expect(message).toContain("the connection broke before an answer came");
    expect(message).not.toMatch(/outcome unknown/i);
    expect(server.posts("breaks", "initialize")).toHaveLength(1);
  });

  test.each(["refused-null", "refused-without"])(
    "that is refused with an error for no request in particular is told in its words (%s)",
    async (scenario) => {
      const { code, message } = await hosting(scenario).callFailure("srv", "echo");
      expect(code).toBe("connect_failed");
      expect(message).toContain("come back tomorrow");
    },
  );

  test("leaves no request open that was tried in vain", async () => {
    const host = make({ limits: { guessMs: 200 } }).configure("srv", { url: server.url("silent-guess") });
    expect(textOf(await host.call("srv", "echo", { text: "used" }))).toBe("used");
    const [guess] = server.posts("silent-guess", "server/discover");
    const used = server.posts("silent-guess", "tools/call");
    expect(used[0]?.connection).not.toBe(guess?.connection);
    await waitFor("only what can be used again is left", () => server.sockets.size === 1, 2000);
  });
});
