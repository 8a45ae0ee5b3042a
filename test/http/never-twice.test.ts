import { afterEach, describe, expect, test } from "@jest/globals";
import { SENTENCES, type Situation } from "../../src/messages.ts";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { FAULTS, type Fault } from "../support/http-faults.ts";
import { harnesses, type PluginHarness, settle, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
/** Noticed when it happens, and not at some timeout; the rest is for a busy machine. */
const PROMPT_MS = 3000;
const FAST = { minRetryMs: 1, defaultRetryMs: 1, resumeAttempts: 3, refusalMs: 100, lingerMs: 50 };
const GOOD = "good again";

const SESSION: Scenario["opening"] = { "mcp-session-id": "s-1" };
/** The faults, which only a call with other words than the good one meets. */
const SCENARIOS: Record<string, Scenario> = Object.fromEntries(
  Object.entries(FAULTS).flatMap(([name, fault]) => [
    [name, unlessGood(fault)],
    [`${name}-in-session`, { ...unlessGood(fault), opening: SESSION }],
  ]),
);

/** The exchanges that go wrong. */
const met: FaultExchange[] = [];

function unlessGood(fault: Fault): Scenario {
  const { post, early, get } = fault;
  const meets = (act: (exchange: FaultExchange) => void | Promise<void>) => (exchange: FaultExchange) => {
    met.push(exchange);
    return act(exchange);
  };
  return {
    ...fault,
    ...(early === undefined ? {} : { early: meets(early) }),
    ...(get === undefined ? {} : { get: meets(get) }),
    ...(post === undefined
      ? {}
      : {
          post: (exchange) => (exchange.seen.body.includes(GOOD) ? exchange.good() : meets(post)(exchange)),
        }),
  };
}

const server = FaultServer.forTests(SCENARIOS);
afterEach(() => {
  met.length = 0;
  server.forget();
});

function hosting(scenario: string): PluginHarness {
  return make({ limits: FAST }).configure("srv", { url: server.url(scenario) });
}

function argumentsOf(fault: Fault): { text: string } {
  // More than the buffers of both ends hold, where it matters that the body is not read.
  return { text: fault.early === undefined ? "x" : "x".repeat(3 << 20) };
}

function codeOf(fault: Fault): string {
  return fault.fails === undefined ? "protocol_error" : SENTENCES[fault.fails as Situation].code;
}

/** The call after it works, or meets what befalls every call; it is sent once, too. */
async function next(host: PluginHarness, name: string, fault: Fault): Promise<void> {
  const before = server.executions(name);
  if (fault.early === undefined) {
    expect(textOf(await host.call("srv", "echo", { text: GOOD }))).toBe(GOOD);
    expect(server.executions(name)).toBe(before + 1);
  } else {
    expect((await host.callFailure("srv", "echo", argumentsOf(fault))).code).toBe(codeOf(fault));
    expect(server.executions(name)).toBe(before);
  }
  expect(server.posts(name)).toHaveLength(2);
}

const FAILING = Object.entries(FAULTS).filter(([, fault]) => fault.silent !== true);
const SILENT = Object.entries(FAULTS).filter(([, fault]) => fault.silent === true);

describe("a call whose exchange fails is sent once, its end is noticed at once, and the next call works", () => {
  test.each(FAILING)("%s", async (name, fault) => {
    const host = hosting(name);
    await host.list("srv");
    const startedAt = performance.now();
    const { code, message, details } = await host.callFailure("srv", "echo", argumentsOf(fault));
    expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS);
    expect(code).toBe(codeOf(fault));
    expect(message).toContain('"srv"');
    if (fault.outcomeUnknown !== undefined && fault.fails !== "http.redirect")
      expect({ unknown: details?.["outcomeUnknown"], told: message.includes("Outcome unknown") }).toEqual({
        unknown: fault.outcomeUnknown,
        told: fault.outcomeUnknown,
      });
    expect({ posts: server.posts(name).length, runs: server.executions(name) }).toEqual({ posts: 1, runs: fault.runs });
    await next(host, name, fault);
    // What is left unread hides the end of the connection from the server.
    for (const { socket } of met) socket.resume();
  });

  test("of at least 40 kinds", () => {
    expect(FAILING.length).toBeGreaterThanOrEqual(40);
  });
});

describe("the same in a session", () => {
  test.each(["call-400", "call-403", "call-404", "call-410", "call-503", "reset-before-head", "sse-empty", "call-401"])(
    "%s",
    async (name) => {
      const fault = FAULTS[name] as Fault;
      const path = `${name}-in-session`;
      const host = hosting(path);
      expect((await host.callFailure("srv", "echo", { text: "x" })).code).toBe(
        name === "call-404" ? "session_expired" : codeOf(fault),
      );
      expect({ posts: server.posts(path).length, runs: server.executions(path) }).toEqual({
        posts: 1,
        runs: fault.runs,
      });
      await next(host, path, fault);
      expect(server.posts(path, "initialize")).toHaveLength(name === "call-404" ? 2 : 1);
    },
  );
});

describe("a server that goes silent during a call", () => {
  test.each(SILENT)(
    "%s: cancelled, at once; its socket is closed, and nothing is sent again [J04] [J07]",
    async (name, fault) => {
      const host = hosting(name);
      const step = host.callStep("srv", "echo", argumentsOf(fault));
      await waitFor("the call has come", () => server.posts(name).length === 1);
      if (name === "resume-hangs") await waitFor("the resumption", () => server.requests(name, "GET").length > 0);
      const [call] = server.posts(name);
      const startedAt = performance.now();
      step.cancel();
      expect(await settle(step)).toMatchObject({ tag: "err", code: "cancelled" });
      expect(performance.now() - startedAt).toBeLessThan(500);
      await waitFor("the socket is closed", () => met.at(-1)?.socket.destroyed, PROMPT_MS);
      expect(server.executions(name)).toBe(fault.runs);
      if (call?.rpc.id !== undefined) {
        await waitFor("the server is told", () => server.posts(name, "notifications/cancelled").length === 1);
        expect(server.posts(name, "notifications/cancelled")[0]?.rpc.params).toMatchObject({ requestId: call.rpc.id });
      }
      if (fault.early === undefined) await next(host, name, fault);
    },
  );

  // All at the same time, so that the second they wait is waited once.
  test("each ends with its timeout, outcome unknown, its socket closed, once [H05] [J04]", async () => {
    const host = make({ limits: FAST });
    for (const [name] of SILENT) host.configure(name, { url: server.url(name) });
    const ends = SILENT.map(async ([name, fault]) => {
      const failure = await host.callFailure(name, "echo", argumentsOf(fault), { timeoutSeconds: 1 });
      expect({ name, code: failure.code, ...failure.details }).toMatchObject({
        name,
        code: "timeout",
        phase: "call",
        seconds: 1,
        outcomeUnknown: true,
      });
      expect({ name, posts: server.posts(name).length, runs: server.executions(name) }).toEqual({
        name,
        posts: 1,
        runs: fault.runs,
      });
    });
    await Promise.all(ends);
    await waitFor("every socket of them is closed", () => met.every(({ socket }) => socket.destroyed), PROMPT_MS);
  });
});
