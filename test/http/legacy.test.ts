import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { JsonRpcMessage } from "../../src/protocol/jsonrpc.ts";
import { FaultServer } from "../support/http-fault-server.ts";
import { type LegacyBehaviour, LegacySseServer, type LegacyStream } from "../support/legacy-sse-server.ts";
import { harnesses, jsonOf, type PluginHarness, settle, textOf } from "../support/plugin-harness.ts";
import { waitFor } from "../support/wait.ts";

const make = harnesses();
const running: LegacySseServer[] = [];

const modern = FaultServer.forTests({
  "not-found": { on: "*", post: (exchange) => exchange.respond(404), get: (exchange) => exchange.respond(404) },
  "no-post": { on: "*", post: (exchange) => exchange.respond(405), get: (exchange) => exchange.json("{}") },
  plain: {},
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.dispose()));
});

function answer(message: JsonRpcMessage, { send }: LegacyStream): void {
  if (!("id" in message) || !("method" in message)) return;
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      serverInfo: { name: "old", version: "1" },
    },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "old answer" }] },
  };
  const result = results[message.method];
  const error = { code: -32601, message: "Method not found" };
  send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result === undefined ? { error } : { result }) }));
}

async function setUp(
  entry: object = {},
  behaviour: LegacyBehaviour = {},
): Promise<{ server: LegacySseServer; host: PluginHarness }> {
  const server = await LegacySseServer.start({ onMessage: answer, ...behaviour });
  running.push(server);
  return { server, host: make().configure("old", { url: server.url, ...entry }) };
}

function calls(server: LegacySseServer): number {
  return server.messages.filter((message) => "method" in message && message.method === "tools/call").length;
}

describe("a URL that speaks only the transport of 2024-11-05 [G03]", () => {
  test("is spoken to its way where the entry does not name a transport", async () => {
    const { server, host } = await setUp();
    expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    expect(server.seen.map(({ method }) => method).slice(0, 2)).toEqual(["POST", "GET"]);
    expect(server.seen.filter(({ method }) => method === "GET")).toHaveLength(1);
    expect(calls(server)).toBe(2);
  });

  test("has a moment to answer the POST of a message whose answer came already; then its connection is closed", async () => {
    const server = await LegacySseServer.start({
      onPost: (message, response) => {
        if (!("method" in message) || message.method !== "tools/call") response.writeHead(202).end();
      },
      onMessage: answer,
    });
    running.push(server);
    const host = make({ limits: { noticeMs: 100 } }).configure("old", { url: server.url, type: "sse" });
    for (let times = 0; times < 5; times++) expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    // The stream itself, and one that is kept for the next message.
    await waitFor("the others are closed", () => server.sockets.size <= 2);
    expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    expect(calls(server)).toBe(6);
  });

  test("as a url target too", async () => {
    const { server, host } = await setUp();
    expect(textOf(await host.run("mcp_call", { url: server.url, tool: "echo" }))).toBe("old answer");
  });

  test.each(["http", "streamable-http", "streamableHttp", "streamable_http"])(
    'is named, with what to write instead, where the entry says "type": "%s"',
    async (type) => {
      const { server, host } = await setUp({ type });
      const { code, message } = await host.callFailure("old", "echo");
      expect(code).toBe("connect_failed");
      expect(message).toContain('"type": "sse"');
      expect(calls(server)).toBe(0);
      await waitFor("the stream is closed", () => server.sockets.size === 0);
    },
  );

  test('is spoken to at once where the entry says "type": "sse"', async () => {
    const { server, host } = await setUp({ type: "sse" });
    expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    expect(server.seen[0]?.method).toBe("GET");
    const { connections } = jsonOf(await host.run("mcp_list", { action: "status" })) as { connections: object[] };
    expect(connections).toMatchObject([{ server: "old", protocolVersion: "2024-11-05" }]);
    await host.shutdown();
    await waitFor("the stream is closed", () => server.sockets.size === 0);
  });

  test("is named where it opens its event stream but refuses what is sent to the endpoint that it names", async () => {
    const refusing = (_: JsonRpcMessage, response: ServerResponse): void => void response.writeHead(405).end("POST no");
    for (const entry of [{}, { type: "sse" }]) {
      const { host } = await setUp(entry, { onPost: refusing });
      const { code, message, details } = await host.callFailure("old", "echo");
      expect([code, details?.["status"]]).toEqual(["http_error", 405]);
      expect(message).toContain("HTTP+SSE");
      expect(message).not.toContain("/mcp");
    }
  });

  test("and then breaks off is told of as that, not as the POST that it refused before", async () => {
    const { host } = await setUp({}, { onMessage: (_, stream) => void stream.response.destroy() });
    const { code, message } = await host.callFailure("old", "echo");
    expect(code).toBe("connect_failed");
    expect(message).toContain("event stream broke off");
  });

  test.each(["not-found", "no-post"])("is not what refuses a POST for another reason (%s)", async (scenario) => {
    const host = make().configure("auto", { url: modern.url(scenario) });
    host.configure("named", { type: "http", url: modern.url(scenario) });
    for (const name of ["auto", "named"]) {
      const { code, message, details } = await host.callFailure(name, "echo");
      expect({ code, status: details?.["status"] }).toEqual({
        code: "http_error",
        status: scenario === "not-found" ? 404 : 405,
      });
      expect(message).not.toContain("sse");
    }
    // And an entry that names the old one is not sent anything else.
    expect(
      (
        await make()
          .configure("old", { type: "sse", url: modern.url(scenario) })
          .callFailure("old", "echo")
      ).code,
    ).not.toBe("internal");
  });

  test("a server of the present transport is not taken for one", async () => {
    const host = make().configure("new", { type: "sse", url: modern.url("plain") });
    const { code, details } = await host.callFailure("new", "echo");
    expect({ code, status: details?.["status"] }).toEqual({ code: "http_error", status: 405 });
    expect(modern.requests("plain", "POST")).toEqual([]);
  });
});

describe("a call over that transport is sent once", () => {
  test("where the stream breaks off during it: closed, outcome unknown; the next call has a new stream", async () => {
    let broken = false;
    const { server, host } = await setUp(
      { type: "sse" },
      {
        onMessage: (message, stream) => {
          if (!broken && "method" in message && message.method === "tools/call") {
            broken = true;
            stream.response.destroy();
          } else answer(message, stream);
        },
      },
    );
    const failure = await host.callFailure("old", "echo");
    expect({ code: failure.code, ...failure.details }).toMatchObject({ code: "closed", outcomeUnknown: true });
    expect(calls(server)).toBe(1);
    expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    expect(calls(server)).toBe(2);
  });

  test("where the stream breaks off between two calls, the discovery meets it", async () => {
    const { server, host } = await setUp({ type: "sse" });
    await host.call("old", "echo");
    for (const socket of server.sockets) socket.destroy();
    expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    expect(calls(server)).toBe(2);
  });

  test.each([404, 400, 503])("where its POST is refused with %i, at once", async (status) => {
    let refuse = false;
    const { server, host } = await setUp(
      { type: "sse" },
      {
        onPost: (message, response) => {
          const refused = refuse && "method" in message && message.method === "tools/call";
          response.writeHead(refused ? status : 202).end("no");
        },
        onMessage: (message, stream) => {
          if (!refuse) answer(message, stream);
          else if ("method" in message && message.method !== "tools/call") answer(message, stream);
          else refuse = false;
        },
      },
    );
    await host.call("old", "echo");
    refuse = true;
    expect((await host.callFailure("old", "echo")).code).toBe(status === 404 ? "session_expired" : "http_error");
    expect(calls(server)).toBe(2);
    refuse = false;
    expect(textOf(await host.call("old", "echo"))).toBe("old answer");
    expect(calls(server)).toBe(3);
  });

  test("where its POST is refused with a JSON-RPC error for it, which is the answer", async () => {
    const error = { code: -32602, message: "no such city" };
    const { server, host } = await setUp(
      { type: "sse" },
      {
        onPost: (message, response) => {
          if (!("method" in message) || message.method !== "tools/call") return void response.writeHead(202).end();
          const { id } = message as { id?: number };
          response.writeHead(400, { "content-type": "application/json" });
          response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
        },
        onMessage: (message, stream) => {
          if (!("method" in message) || message.method !== "tools/call") answer(message, stream);
        },
      },
    );
    for (const times of [1, 2]) {
      const { code, details } = await host.callFailure("old", "echo");
      expect({ code, ...details }).toMatchObject({ code: "rpc_error", rpcError: error });
      expect(calls(server)).toBe(times);
    }
    expect(server.seen.filter(({ method }) => method === "GET")).toHaveLength(1);
  });

  test("and the server is told when it is cancelled [J07]", async () => {
    const { server, host } = await setUp(
      { type: "sse" },
      {
        onMessage: (message, stream) => {
          if (!("method" in message) || message.method !== "tools/call") answer(message, stream);
        },
      },
    );
    const step = host.callStep("old", "echo");
    await waitFor("the call", () => calls(server) === 1);
    step.cancel();
    expect(await settle(step)).toMatchObject({ tag: "err", code: "cancelled" });
    await waitFor("the server is told", () =>
      server.messages.some((message) => "method" in message && message.method === "notifications/cancelled"),
    );
  });
});
