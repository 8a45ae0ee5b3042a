import { afterEach, describe, expect, test } from "@jest/globals";
import type { Authorizer } from "../../src/authorizer.ts";
import { AdapterError } from "../../src/errors.ts";
import { resolveLimits } from "../../src/limits.ts";
import { PersonWait } from "../../src/person-wait.ts";
import type { HttpTransportOptions } from "../../src/transport/client.ts";
import { LegacySseTransport } from "../../src/transport/legacy-sse.ts";
import { rejectionOf } from "../../src/transport/refusal.ts";
import { type LegacyBehaviour, LegacySseServer } from "../support/legacy-sse-server.ts";
import { failureOf, TransportClient } from "../support/transport-client.ts";
import { busy, waitFor } from "../support/wait.ts";

const servers: LegacySseServer[] = [];
const clients: TransportClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.transport.close()));
  await Promise.all(servers.splice(0).map((server) => server.dispose()));
});

async function setUp(
  behaviour: LegacyBehaviour = {},
  endpointMs = 2000,
  more: Pick<HttpTransportOptions, "signIn"> = {},
): Promise<{ server: LegacySseServer; client: TransportClient }> {
  const server = await LegacySseServer.start(behaviour);
  servers.push(server);
  const limits = resolveLimits({ endpointMs });
  const client = new TransportClient(
    new LegacySseTransport({ server: "srv", url: server.url, headers: { Authorization: "Bearer t" }, limits, ...more }),
  );
  clients.push(client);
  return { server, client };
}

const echoing: LegacyBehaviour = {
  onMessage: (message, { send }) => {
    if ("id" in message && "method" in message)
      send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: message.params ?? {} }));
  },
};

describe("opening", () => {
  test("one GET, then messages go to the endpoint it names, each once and with the entry's headers", async () => {
    const { server, client } = await setUp(echoing);
    await client.transport.open(client);
    expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
    client.transport.adopt({ versionHeader: "2025-06-18", sessions: true, resumable: true, listens: false });
    await client.request("echo", { n: 2 });
    // As where server/discover was refused: nothing is agreed on then.
    await client.request("initialize");
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET /sse",
      "POST /messages?sessionId=1",
      "POST /messages?sessionId=1",
      "POST /messages?sessionId=1",
    ]);
    expect(server.seen[0]?.headers).toMatchObject({ accept: "text/event-stream", authorization: "Bearer t" });
    expect(server.seen[1]?.headers).toMatchObject({ "content-type": "application/json", authorization: "Bearer t" });
    expect(server.seen[1]?.headers).not.toHaveProperty("mcp-protocol-version");
    expect(server.seen[2]?.headers).toMatchObject({ "mcp-protocol-version": "2025-06-18" });
    expect(server.seen[3]?.headers).not.toHaveProperty("mcp-protocol-version");
  });

  test.each(["messages?sessionId=1", "/messages?sessionId=1", "ABSOLUTE"])(
    "the endpoint may be given as %s",
    async (endpoint) => {
      const { client } = await setUp({
        ...echoing,
        onGet: (_, response, server) =>
          void server.open(response, endpoint === "ABSOLUTE" ? `${server.origin}/messages?sessionId=1` : endpoint),
      });
      await client.transport.open(client);
      expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
    },
  );

  test.each([
    "http://evil.example/messages",
    "https://127.0.0.1/messages",
    "//evil.example/m",
    "http://user:pw@HOST/messages",
    "http://",
    "file:///etc/passwd",
  ])("an endpoint elsewhere is refused: %s", async (endpoint) => {
    const { server, client } = await setUp({
      onGet: (request, response, own) => void own.open(response, endpoint.replace("HOST", request.headers.host ?? "")),
    });
    const failure = await failureOf(client.transport.open(client));
    expect(failure).toMatchObject({
      situation: "connect.failed",
      details: { reason: expect.stringContaining("endpoint") },
    });
    expect(failure.message).not.toContain("pw@");
    await waitFor("the connection is closed", () => server.sockets.size === 0, 5000);
  });

  test("no endpoint in time: connect_failed", async () => {
    const { server, client } = await setUp(
      { onGet: (_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders() },
      100,
    );
    expect(await failureOf(client.transport.open(client))).toMatchObject({
      situation: "connect.failed",
      details: { reason: "it named no endpoint within 0.1 s" },
    });
    await waitFor("the connection is closed", () => server.sockets.size === 0, 5000);
  });

  test("an endpoint that was named in time counts, also where the host was stopped or busy meanwhile", async () => {
    const onGet: LegacyBehaviour["onGet"] = (_, response, server) => {
      server.open(response);
      setImmediate(() => busy(1500));
    };
    const { client } = await setUp({ ...echoing, onGet }, 1000);
    await client.transport.open(client);
    expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
  });

  test("the time in which a person signs in is not the server's", async () => {
    let signedIn = false;
    const onGet: LegacyBehaviour["onGet"] = (_, response, server) => {
      if (signedIn) server.open(response);
      else response.writeHead(401, { "www-authenticate": "Bearer" }).end();
    };
    const wait = new PersonWait();
    const authorizer: Authorizer = {
      headers: async () => ({}),
      challenge: async (_, signal) => {
        const end = wait.begin();
        // Longer than the endpoint may take, by that clock.
        for (const begun = performance.now(); performance.now() - begun < 250; ) {
          if (signal.aborted) throw new AdapterError("cancelled", { server: "srv" });
          await new Promise((resolve) => setImmediate(resolve));
        }
        signedIn = true;
        end();
      },
    };
    const signIn = { eager: false, load: async () => authorizer, wait };
    const { client } = await setUp({ ...echoing, onGet }, 100, { signIn });
    await client.transport.open(client);
    expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
  });

  test("a stream that ends first, or is none: connect_failed", async () => {
    const ending = await setUp({
      onGet: (_, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(": bye\n\n"),
    });
    expect((await failureOf(ending.client.transport.open(ending.client))).situation).toBe("connect.failed");
    const breaking = await setUp({ onGet: (_, response) => void response.destroy() });
    expect((await failureOf(breaking.client.transport.open(breaking.client))).situation).toBe("connect.failed");
    const page = await setUp({
      onGet: (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello"),
    });
    expect(await failureOf(page.client.transport.open(page.client))).toMatchObject({
      message: expect.stringMatching(/content type "text\/html"\. Check its url, often \/sse; /),
      details: { reason: expect.stringContaining("text/html") },
    });
  });

  test("a refusal keeps its status", async () => {
    const { client } = await setUp({ onGet: (_, response) => void response.writeHead(405).end("POST only") });
    const failure = await failureOf(client.transport.open(client));
    expect(failure).toMatchObject({ situation: "http.status", details: { status: 405, body: "POST only" } });
    expect(failure).toMatchObject({
      message: expect.stringMatching(/often \/sse; a server at \/mcp wants "type": "http"/),
    });
    expect(failure).not.toMatchObject({ message: expect.stringContaining("it is often /mcp") });
    expect(rejectionOf(failure)?.status).toBe(405);
    const auth = await setUp({
      onGet: (_, response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
    });
    expect((await failureOf(auth.client.transport.open(auth.client))).code).toBe("auth_required");
  });

  test("it can be given up", async () => {
    const { server, client } = await setUp({ onGet: () => undefined });
    const controller = new AbortController();
    const failure = failureOf(client.transport.open(client, controller.signal));
    await waitFor("the request", () => server.seen.length === 1);
    controller.abort();
    expect((await failure).situation).toBe("cancelled");
    await waitFor("the connection is closed", () => server.sockets.size === 0, 5000);
    const other = await setUp();
    expect((await failureOf(other.client.transport.open(other.client, AbortSignal.abort()))).situation).toBe(
      "cancelled",
    );
    expect(other.server.seen).toEqual([]);
  });

  test("giving up after it is open does nothing", async () => {
    const { client } = await setUp(echoing);
    const controller = new AbortController();
    await client.transport.open(client, controller.signal);
    controller.abort();
    expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
  });

  test("close while it is being opened", async () => {
    const { client, server } = await setUp({ onGet: () => undefined });
    const failure = failureOf(client.transport.open(client));
    await waitFor("the request", () => server.seen.length === 1);
    await client.transport.close();
    expect((await failure).situation).toBe("closed.stopped");
  });
});

describe("messages", () => {
  test.each([200, 201, 202, 204])("any success takes a message (%d)", async (status) => {
    const { client } = await setUp({
      ...echoing,
      onPost: (_, response) => void response.writeHead(status).end(status === 204 ? undefined : "fine"),
    });
    await client.transport.open(client);
    expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
  });

  test("a refused message is not sent again", async () => {
    const { client, server } = await setUp({ onPost: (_, response) => void response.writeHead(503).end("busy") });
    await client.transport.open(client);
    expect(await failureOf(client.request("echo"))).toMatchObject({
      situation: "http.status",
      details: { status: 503 },
    });
    expect(server.messages).toHaveLength(1);
  });

  test("a session that the server no longer knows has expired", async () => {
    const { client } = await setUp({ onPost: (_, response) => void response.writeHead(404).end() });
    await client.transport.open(client);
    expect((await failureOf(client.request("echo"))).situation).toBe("session.expired");
  });

  test("a POST that breaks off is not sent again", async () => {
    const { client, server } = await setUp({ onPost: (_, response) => void response.destroy() });
    await client.transport.open(client);
    expect(await failureOf(client.request("echo"))).toMatchObject({
      situation: "closed",
      details: { outcomeUnknown: true },
    });
    expect(server.messages).toHaveLength(1);
  });

  test("an answer may come before its POST is answered", async () => {
    const { client } = await setUp({
      onPost: (message, response, { send }) => {
        if ("id" in message) send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: {} }));
        setTimeout(() => response.writeHead(202).end(), 30);
      },
    });
    await client.transport.open(client);
    expect((await client.request("echo"))?.result).toEqual({});
  });
});

describe("the end of the stream", () => {
  test.each(["end", "destroy"] as const)(
    "is the end of the connection: what waits is told, later messages are not sent (%s)",
    async (how) => {
      const { client, server } = await setUp({ onMessage: (_, { response }) => void response[how]() });
      await client.transport.open(client);
      void client.request("echo").catch(() => undefined);
      const error = await waitFor("the end", () => client.closings[0], 5000);
      expect(error).toMatchObject({
        code: "closed",
        details: { outcomeUnknown: true, reason: expect.stringContaining("its event stream") },
      });
      expect(await failureOf(client.request("echo"))).toMatchObject({
        code: "closed",
        details: { outcomeUnknown: false },
      });
      expect(server.messages).toHaveLength(1);
      await client.transport.close();
      expect(client.closings).toHaveLength(1);
      await waitFor("nothing is left open", () => server.sockets.size === 0, 5000);
    },
  );

  test("close leaves nothing open and is not reported", async () => {
    const { client, server } = await setUp(echoing);
    await client.transport.open(client);
    await client.request("echo");
    await client.transport.close();
    await waitFor("nothing is left open", () => server.sockets.size === 0, 5000);
    expect(client.closings).toEqual([]);
  });
});
