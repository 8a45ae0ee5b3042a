import { beforeEach, describe, expect, test } from "@jest/globals";
import { type FaultExchange, FaultServer, type Scenario } from "../support/http-fault-server.ts";
import { ODDITIES } from "../support/http-faults.ts";
import {
  type HarnessOptions,
  harnesses,
  type PluginHarness,
  progressOf,
  settle,
  textOf,
} from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const FAST = { minRetryMs: 1, defaultRetryMs: 1, resumeAttempts: 3, refusalMs: 100, lingerMs: 50 };
const PROMPT_MS = 3000;

function rpc(id: unknown, text: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });
}

function note(method: string, params?: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
}

/** A stream for the call, on which this is sent. */
function streaming(events: (exchange: FaultExchange) => void): Scenario {
  return {
    post: (exchange) => {
      exchange.begin();
      events(exchange);
      exchange.finish();
    },
  };
}

/** The result object of a call, as it is. */
function result(value: unknown): Scenario {
  return {
    post: (exchange) => exchange.json(JSON.stringify({ jsonrpc: "2.0", id: exchange.seen.rpc.id, result: value })),
  };
}

function tools(...pages: ((cursor: unknown) => object)[]): Scenario {
  return {
    on: "tools/list",
    post: (exchange) => {
      const cursor = exchange.seen.rpc.params?.["cursor"];
      const page = pages[exchange.server.count(`${exchange.seen.path} pages`) % pages.length];
      exchange.json(JSON.stringify({ jsonrpc: "2.0", id: exchange.seen.rpc.id, result: page?.(cursor) }));
    },
  };
}

const GOOD = { name: "echo", inputSchema: { type: "object" } };
/** Questions of a server during a call, by their ids; the last has the id of the call itself. */
const QUESTIONS = ["p1", 7702, "s-3", "u 5"];
let asking: FaultExchange | undefined;
let answers: FaultExchange["seen"]["rpc"][] = [];

const SCENARIOS: Record<string, Scenario> = {
  ...ODDITIES,
  "string-id": {
    on: "*",
    post: (exchange) =>
      exchange.seen.rpc.id === undefined
        ? exchange.good()
        : exchange.json(exchange.answer().replace(/"id":(\d+)/, '"id":"$1"')),
  },
  twice: streaming((exchange) => {
    exchange.event(rpc(999_999, "foreign"));
    exchange.event(rpc(exchange.seen.rpc.id, "first"));
    exchange.event(rpc(exchange.seen.rpc.id, "second"));
  }),
  asks: {
    opening: { "mcp-session-id": "s-1" },
    on: "*",
    post: (exchange) => {
      const { method, id } = exchange.seen.rpc;
      if (method === "tools/call") {
        asking = exchange;
        exchange.begin();
        for (const [at, each] of [...QUESTIONS, id].entries())
          exchange.event(
            JSON.stringify({
              jsonrpc: "2.0",
              id: each,
              method: ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "vendor/x"][at],
              params: {},
            }),
          );
      } else if (method === undefined) {
        exchange.respond(202);
        answers.push(exchange.seen.rpc);
        if (answers.length < 5) return;
        asking?.event(rpc(asking.seen.rpc.id, "answered"));
        asking?.finish();
      } else exchange.good();
    },
  },
  notes: streaming((exchange) => {
    const { id } = exchange.seen.rpc;
    exchange.event(note("notifications/unknown", { a: 1 }));
    exchange.event(note("notifications/message", [1]));
    exchange.event(note("notifications/message"));
    exchange.event(note("notifications/progress", { progressToken: "no", progress: 1 }));
    exchange.event(note(""));
    exchange.event('{"jsonrpc":"2.0","method":"notifications/message","params":null}');
    exchange.event(note("notifications/cancelled", { requestId: id }));
    exchange.event(exchange.answer());
  }),
  flood: streaming((exchange) => {
    const log = `data: ${note("notifications/message", { level: "info", data: "x" })}\n\n`;
    for (let at = 0; at < 20; at++) exchange.chunk(log.repeat(1000));
    const changed = `data: ${note("notifications/tools/list_changed")}\n\n`;
    exchange.chunk(changed.repeat(500));
    exchange.event(exchange.answer());
  }),
  batch: {
    post: (exchange) => exchange.json(`[${note("notifications/message", { data: "x" })},${exchange.answer()}]`),
  },
  "foreign-id": { post: (exchange) => exchange.json(rpc(424_242, "foreign")) },
  "stream-foreign-only": streaming((exchange) => exchange.event(rpc(424_242, "foreign"))),
  "odd-tools": tools(() => ({
    tools: [null, "x", {}, { name: 7 }, { name: "bad", inputSchema: "no" }, { name: "a/ü .b" }, GOOD],
  })),
  "same-cursor": tools(() => ({ tools: [GOOD], nextCursor: "same" })),
  "new-cursors": tools((cursor) => ({ tools: [], nextCursor: `${cursor ?? ""}c` })),
  "two-pages": tools((cursor) =>
    cursor === undefined ? { tools: [], nextCursor: "2" } : { tools: [GOOD], nextCursor: null },
  ),
  structured: result({ structuredContent: { a: 1 } }),
  "structured-error": result({
    isError: true,
    content: [{ type: "text", text: "quota exceeded" }],
    structuredContent: { b: 2 },
  }),
  blocks: result({
    content: [
      { type: "text", text: "one" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///x", name: "link" },
      { type: "resource", resource: { uri: "file:///y", text: "inside" } },
      { type: "json", value: 1 },
      { type: "text", text: "last" },
    ],
  }),
  "rpc-error": {
    post: (exchange) =>
      exchange.json(
        JSON.stringify({
          jsonrpc: "2.0",
          id: exchange.seen.rpc.id,
          error: { code: -32602, message: "bad city", data: { a: 1 } },
        }),
      ),
  },
  "error-without-id": {
    post: (exchange) =>
      exchange.json(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no such city" } })),
  },
  "error-without-id-streamed": streaming((exchange) => {
    exchange.event(JSON.stringify({ jsonrpc: "2.0", error: { code: -32700, message: "no such city" } }));
  }),
  "error-of-nobody": {
    post: (exchange) =>
      exchange.json(JSON.stringify({ jsonrpc: "2.0", id: "server-error", error: { code: -1, message: "not today" } })),
  },
  "list-error-of-nobody": {
    on: "tools/list",
    post: (exchange) =>
      exchange.json(JSON.stringify({ jsonrpc: "2.0", id: "server-error", error: { code: -1, message: "not today" } })),
  },
  "handshake-error-of-nobody": {
    on: "initialize",
    post: (exchange) =>
      exchange.json(JSON.stringify({ jsonrpc: "2.0", id: "server-error", error: { code: -1, message: "not today" } })),
  },
  "list-error-without-id": {
    on: "tools/list",
    post: (exchange) =>
      exchange.json(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32603, message: "not today" } })),
  },
  progress: {
    post: (exchange) => {
      const { _meta: meta } = (exchange.seen.rpc.params ?? {}) as { _meta?: { progressToken?: unknown } };
      exchange.begin();
      for (let at = 1; at <= 3; at++)
        exchange.event(note("notifications/progress", { progressToken: meta?.progressToken, progress: at, total: 3 }));
      exchange.event(exchange.answer());
      exchange.finish();
    },
  },
  polled: {
    post: (exchange) => {
      exchange.answer();
      exchange.begin();
      exchange.event("", { id: "e1", retry: 100 });
      exchange.finish();
    },
    get: (exchange) => {
      exchange.begin();
      exchange.event(rpc(exchange.server.posts("polled").at(-1)?.rpc.id, "polled"));
      exchange.finish();
    },
  },
  "closes-for-ever": {
    post: (exchange) => {
      exchange.answer();
      exchange.begin();
      exchange.event("", { id: "e1", retry: 0 });
      exchange.finish();
    },
    get: (exchange) => {
      exchange.begin();
      exchange.chunk("retry: 0\n\n");
      exchange.finish();
    },
  },
  "login-page": {
    on: "initialize",
    post: (exchange) =>
      exchange.respond(
        200,
        { "content-type": "text/html" },
        `<html><head><title>Sign in</title></head><body><p>Please sign in.</p>${"<b>more</b>".repeat(5000)}</body></html>`,
      ),
  },
  "once-503": {
    post: (exchange) =>
      exchange.server.count("once-503") === 1 ? exchange.respond(503, { "retry-after": "0" }, "busy") : exchange.good(),
  },
  "redirect-start": {
    on: "*",
    post: (exchange) => exchange.respond(307, { location: "https://user:secret-word@other.example/mcp/" }),
  },
  "hang-list": { on: "tools/list", post: () => undefined },
  "hang-initialize": { on: "initialize", post: () => undefined },
  "hang-call": { post: () => undefined },
};

const server = FaultServer.forTests(SCENARIOS);
beforeEach(() => {
  server.forget();
  answers = [];
});

function hosting(scenario: string, options: HarnessOptions = {}): PluginHarness {
  return make({ limits: FAST, ...options }).configure("srv", { url: server.url(scenario) });
}

const echo = (host: PluginHarness, text = "hi"): Promise<string> => host.call("srv", "echo", { text }).then(textOf);

describe("odd answers that are answers all the same, through mcp_call", () => {
  test.each(Object.keys(ODDITIES))("%s [G04] [G12] [H02] [H12]", async (scenario) => {
    const host = hosting(scenario);
    for (const text of ["first ünïcödé 😀", "second\u2028"]) expect(await echo(host, text)).toBe(text);
    expect(server.executions(scenario)).toBe(2);
  });

  test("ids that come back as strings, from the handshake on [B01]", async () => {
    expect(await echo(hosting("string-id"))).toBe("hi");
  });

  test("of two answers the first counts, and foreign ones do not [B05] [H12]", async () => {
    const host = hosting("twice");
    expect(await echo(host)).toBe("first");
    expect(await echo(host)).toBe("first");
  });

  test("notifications of every sort are no answer, and cancel nothing [B09]", async () => {
    expect(await echo(hosting("notes"))).toBe("hi");
  });

  test("20,000 log lines and 500 changed lists before the answer cause no request [B09]", async () => {
    const host = hosting("flood");
    expect(await echo(host)).toBe("hi");
    expect(server.posts("flood", "tools/list")).toHaveLength(1);
  });

  test("an answer inside an array [B11]", async () => {
    expect(await echo(hosting("batch"))).toBe("hi");
  });

  test("questions during a call are answered with their own ids, and one with the call's id does not end it [B07]", async () => {
    expect(await echo(hosting("asks"))).toBe("answered");
    expect(answers.find(({ id }) => id === "p1")?.result).toEqual({});
    const refused = answers.filter(({ id }) => id !== "p1");
    expect(new Set(refused.map(({ id }) => id))).toEqual(new Set([...QUESTIONS.slice(1), asking?.seen.rpc.id]));
    for (const each of refused) expect(each).toMatchObject({ error: { code: -32601 } });
  });

  test("progress is shown, in order [J03]", async () => {
    const host = hosting("progress");
    const step = host.callStep("srv", "echo", { text: "hi" });
    const seen: number[] = [];
    await step.settled;
    const end = step.poll((partial) => seen.push(progressOf(partial)));
    step.destroy();
    expect(end.tag).toBe("done");
    expect(seen).toEqual([1, 2, 3]);
  });
});

describe("exchanges that end without the answer, through mcp_call", () => {
  test.each(["foreign-id", "stream-foreign-only"])(
    "%s: a prompt error, outcome unknown, once [G06] [H01]",
    async (scenario) => {
      const host = hosting(scenario);
      const startedAt = performance.now();
      const { code, message, details } = await host.callFailure("srv", "echo");
      expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS);
      expect({ code, unknown: details?.["outcomeUnknown"] }).toEqual({ code: "protocol_error", unknown: true });
      expect(message).not.toContain("foreign");
      expect(server.posts(scenario)).toHaveLength(1);
    },
  );

  test("a login page for the whole URL is named, with its first words [G04]", async () => {
    const host = hosting("login-page");
    const { message, details } = await host.callFailure("srv", "echo");
    expect(message).toContain("text/html");
    expect(message).toContain("Please sign in.");
    expect(message.length).toBeLessThan(1000);
    expect(JSON.stringify(details).length).toBeLessThan(2000);
    expect(server.requests("login-page")).toHaveLength(1);
  });

  test("503 once: told at once with its words, not repeated, and the next call works [G09]", async () => {
    const host = hosting("once-503");
    const { code, message, details } = await host.callFailure("srv", "echo");
    expect(code).toBe("http_error");
    expect(details).toMatchObject({ status: 503, body: "busy" });
    expect(message).toContain("busy");
    expect(await echo(host)).toBe("hi");
    expect(server.posts("once-503")).toHaveLength(2);
    expect(server.posts("once-503", "initialize")).toHaveLength(1);
  });

  test("a redirect of the whole URL is named without credentials, and not followed [G10]", async () => {
    const host = hosting("redirect-start");
    const failure = await host.callFailure("srv", "echo");
    expect(failure.code).toBe("http_error");
    expect(failure.message).toContain("https://other.example/mcp/");
    expect(failure.message).toContain("configure");
    expect(JSON.stringify(failure)).not.toContain("secret-word");
    expect(server.requests("redirect-start")).toHaveLength(1);
  });

  test("a JSON-RPC error is told with its code, and keeps the connection", async () => {
    const host = hosting("rpc-error");
    for (let at = 0; at < 2; at++)
      expect(await host.callFailure("srv", "echo")).toMatchObject({
        code: "rpc_error",
        details: { rpcError: { code: -32602, message: "bad city", data: { a: 1 } } },
      });
    expect(server.posts("rpc-error", "initialize")).toHaveLength(1);
  });

  test.each(["error-without-id", "error-without-id-streamed"])(
    "an error about a request whose id the server could not read is about the request it answers (%s)",
    async (scenario) => {
      const failure = await hosting(scenario).callFailure("srv", "echo");
      expect(failure).toMatchObject({
        code: "rpc_error",
        details: { rpcError: { code: -32700, message: "no such city" } },
      });
      expect(failure.message).toContain("no such city");
    },
  );

  test("the words of an error under an id that is nobody's are told where no answer follows", async () => {
    const call = await hosting("error-of-nobody").callFailure("srv", "echo");
    const list = await hosting("list-error-of-nobody").listFailure("srv");
    for (const { code, message } of [call, list]) {
      expect(code).toBe("protocol_error");
      expect(message).toContain("not today");
    }
    const handshake = await hosting("handshake-error-of-nobody").listFailure("srv");
    expect(handshake.code).toBe("connect_failed");
    expect(handshake.message).toContain("error -1: not today");
  });

  test("the words of such an error are told of a list too", async () => {
    const failure = await hosting("list-error-without-id").listFailure("srv");
    expect(failure.code).toBe("protocol_error");
    expect(failure.message).toContain("not today");
  });
});

describe("streams that are resumed, through mcp_call", () => {
  test("a server that wants to be polled: one POST, one GET after its time [H07]", async () => {
    const host = hosting("polled");
    const startedAt = performance.now();
    expect(await echo(host)).toBe("polled");
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(100);
    expect(server.posts("polled")).toHaveLength(1);
    expect(server.requests("polled", "GET").map(({ headers }) => headers["last-event-id"])).toEqual(["e1"]);
    expect(server.executions("polled")).toBe(1);
  });

  test("one that closes for ever: a bounded number of GETs, then outcome unknown, and nothing goes on [H10]", async () => {
    const host = hosting("closes-for-ever");
    const failure = await host.callFailure("srv", "echo");
    expect({ code: failure.code, ...failure.details }).toMatchObject({ code: "closed", outcomeUnknown: true });
    expect(server.requests("closes-for-ever", "GET")).toHaveLength(3);
    await host.list("srv");
    expect(server.requests("closes-for-ever", "GET")).toHaveLength(3);
    expect(server.executions("closes-for-ever")).toBe(1);
  });

  test("one that is polled ends when the call is cancelled [H10] [J07]", async () => {
    const host = hosting("closes-for-ever", { limits: { ...FAST, resumeAttempts: 100_000 } });
    const step = host.callStep("srv", "echo");
    await waitFor("some polling", () => server.requests("closes-for-ever", "GET").length > 3);
    step.cancel();
    expect(await settle(step)).toMatchObject({ tag: "err", code: "cancelled" });
    await waitFor("the server is told", () => server.posts("closes-for-ever", "notifications/cancelled").length === 1);
    const count = server.requests("closes-for-ever", "GET").length;
    for (let at = 0; at < 5; at++) await host.list("srv");
    expect(server.requests("closes-for-ever", "GET").length).toBeLessThanOrEqual(count + 1);
  });
});

describe("lists over HTTP", () => {
  test("malformed tools are left out, and the good ones are called [E01] [E03]", async () => {
    const host = hosting("odd-tools");
    const { tools: listed } = (await host.list("srv")).details as { tools: { name: string }[] };
    expect(listed.map(({ name }) => name)).toEqual(["bad", "a/ü .b", "echo"]);
    expect(textOf(await host.call("srv", "a/ü .b", { text: "x" }))).toBe("x");
    expect(server.posts("odd-tools")[0]?.rpc.params).toMatchObject({ name: "a/ü .b" });
  });

  test("a cursor that repeats is refused, and so is a list without end [E04] [E05]", async () => {
    expect((await hosting("same-cursor").callFailure("srv", "echo")).code).toBe("protocol_error");
    expect(server.posts("same-cursor", "tools/list").length).toBeLessThanOrEqual(3);
    expect((await hosting("new-cursors").callFailure("srv", "echo")).code).toBe("limit_exceeded");
    expect(server.posts("new-cursors", "tools/list")).toHaveLength(100);
    expect(await echo(hosting("two-pages"))).toBe("hi");
  });
});

describe("results over HTTP", () => {
  test("structured content alone is shown as JSON, and an error that breaks a schema stays an error [F01] [F03]", async () => {
    expect(JSON.parse(await echo(hosting("structured")))).toEqual({ a: 1 });
    const { code, message } = await hosting("structured-error").callFailure("srv", "echo");
    expect({ code, quota: message.includes("quota exceeded") }).toEqual({ code: "tool_error", quota: true });
  });

  test("all blocks come in order [F05]", async () => {
    const { content } = await hosting("blocks").call("srv", "echo");
    const shown = content.map((block) => (block.type === "text" ? block.text : "[image]"));
    expect(shown).toHaveLength(7);
    for (const [at, part] of ["one", "[image]", "audio/wav", "file:///x", "inside", "json", "last"].entries())
      expect(shown[at]).toContain(part);
  });
});

describe("a call that is cancelled [J07]", () => {
  test.each([
    ["before anything was sent", "hang-call", undefined],
    ["during initialize", "hang-initialize", "initialize"],
    ["during the discovery", "hang-list", "tools/list"],
    ["during the call", "hang-call", "tools/call"],
  ])("%s settles at once, and its socket is closed [J04]", async (_, scenario, method) => {
    const host = hosting(scenario);
    const step = host.callStep("srv", "echo");
    if (method !== undefined) await waitFor("the request", () => server.posts(scenario, method).length === 1);
    step.cancel();
    const startedAt = performance.now();
    expect(await settle(step)).toMatchObject({ tag: "err", code: "cancelled" });
    expect(performance.now() - startedAt).toBeLessThan(500);
    if (method === undefined) expect(server.requests(scenario)).toEqual([]);
    else {
      const asked = server.posts(scenario, method)[0]?.rpc.id;
      // initialize must not be cancelled by notice; its socket is the only one.
      if (method === "initialize") {
        await waitFor("the socket is closed", () => server.sockets.size === 0, PROMPT_MS);
        expect(server.posts(scenario, "notifications/cancelled")).toEqual([]);
      } else {
        await waitFor("the server is told", () => server.posts(scenario, "notifications/cancelled").length === 1);
        expect(server.posts(scenario, "notifications/cancelled")[0]?.rpc.params).toMatchObject({ requestId: asked });
      }
    }
  });

  test("during initialize does not harm another waiter of the same connection", async () => {
    const held: FaultExchange[] = [];
    const one = await FaultServer.start({
      scenarios: { mcp: { on: "initialize", post: (exchange) => void held.push(exchange) } },
    });
    try {
      const host = make().configure("srv", { url: one.url("mcp") });
      const given = host.callStep("srv", "echo");
      const kept = host.call("srv", "echo", { text: "kept" });
      await waitFor("initialize", () => one.posts("mcp", "initialize").length === 1);
      given.cancel();
      expect(await settle(given)).toMatchObject({ tag: "err", code: "cancelled" });
      held[0]?.good();
      expect(textOf(await kept)).toBe("kept");
      expect(one.posts("mcp", "initialize")).toHaveLength(1);
      await host.shutdown();
    } finally {
      await one.dispose();
    }
  });

  test("after the answer changes nothing", async () => {
    const host = hosting("plain");
    const step = host.callStep("srv", "echo", { text: "done" });
    await step.settled;
    step.cancel();
    expect(await settle(step)).toMatchObject({ tag: "done" });
    expect(server.posts("plain", "notifications/cancelled")).toEqual([]);
  });
});
