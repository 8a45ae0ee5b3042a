import { afterEach, describe, expect, test } from "@jest/globals";
import { Cancellation } from "../../src/cancellation.ts";
import type { Limits } from "../../src/limits.ts";
import type { JsonRpcMessage } from "../../src/protocol/jsonrpc.ts";
import type { Transport } from "../../src/transport/transport.ts";
import { failureOf, TransportClient } from "../support/transport-client.ts";
import { waitFor } from "../support/wait.ts";

/**
 * A transport, not yet opened, to a server that knows these methods:
 * `echo` answers with its params; `chatter` sends the notifications `note` with `{ n: 1 }` to `{ n: 3 }`, then answers; `junk` sends
 * what is no message, as far as the transport allows that beside messages, then answers; `ask` sends the request `question` with the id
 * `q-1` and answers with the result it gets; `silent` never answers; `leave` breaks the connection off instead of answering.
 */
export interface TransportFixture {
  readonly transport: Transport;
  /** Every message the server has got. */
  readonly received: () => readonly JsonRpcMessage[];
  readonly dispose: () => Promise<void>;
}

export interface TransportFactory {
  readonly create: (limits: Partial<Limits>) => Promise<TransportFixture>;
  /** A transport whose server does not exist. */
  readonly createToNobody: () => Promise<Transport>;
}

const PROMPT_MS = 2000;
const LIMIT_BYTES = 256 * 1024;

/** What every transport must do, whatever it moves messages over. */
export function describeTransport(name: string, factory: TransportFactory): void {
  describe(`${name} keeps the contract of a transport`, () => {
    const fixtures: TransportFixture[] = [];
    const clients: TransportClient[] = [];

    async function open(limits: Partial<Limits> = {}): Promise<TransportClient> {
      const fixture = await factory.create(limits);
      fixtures.push(fixture);
      const client = new TransportClient(fixture.transport);
      clients.push(client);
      await fixture.transport.open(client);
      return client;
    }

    function received(method: string): readonly JsonRpcMessage[] {
      return (fixtures.at(-1)?.received() ?? []).filter((message) => "method" in message && message.method === method);
    }

    afterEach(async () => {
      await Promise.all(clients.splice(0).map((client) => client.transport.close()));
      await Promise.all(fixtures.splice(0).map((fixture) => fixture.dispose()));
    });

    test("a request is answered, and what was sent is what arrived", async () => {
      const client = await open();
      const params = { text: 'ünïcödé 😀 "quoted" \\ \u2028 \n', list: [1, null, true, { deep: [] }], empty: "" };
      expect((await client.request("echo", params))?.result).toEqual(params);
      expect(received("echo")).toMatchObject([{ jsonrpc: "2.0", params }]);
    });

    test("a large message passes whole in both directions", async () => {
      const client = await open();
      const text = `${"0123456789abcdef".repeat(128 * 1024)}é`;
      expect((await client.request("echo", { text }))?.result).toEqual({ text });
    });

    test("requests in flight get their own answers", async () => {
      const client = await open();
      const numbers = Array.from({ length: 50 }, (_, n) => n);
      const replies = await Promise.all(numbers.map((n) => client.request("echo", { n })));
      expect(replies.map((reply) => reply?.result)).toEqual(numbers.map((n) => ({ n })));
    });

    test("notifications come before the answer they precede, in order", async () => {
      const client = await open();
      await client.request("chatter");
      expect(client.received).toMatchObject([
        { params: { n: 1 } },
        { params: { n: 2 } },
        { params: { n: 3 } },
        { result: {} },
      ]);
    });

    test("a notification arrives, once, and is not answered", async () => {
      const client = await open();
      await client.notify("notifications/hello");
      await waitFor("it arrives", () => received("notifications/hello").length > 0, PROMPT_MS);
      await client.request("echo");
      expect(received("notifications/hello")).toHaveLength(1);
      expect(client.received).toHaveLength(1);
    });

    test("a question of the server arrives with its id, and its answer goes back", async () => {
      const client = await open();
      const answer = client.request("ask");
      const question = await waitFor(
        "the question",
        () => client.received.find((message) => "method" in message),
        PROMPT_MS,
      );
      expect(question).toMatchObject({ id: "q-1", method: "question" });
      await client.transport.send({ jsonrpc: "2.0", id: "q-1", result: { said: "yes" } });
      expect((await answer)?.result).toEqual({ said: "yes" });
    });

    test("what is no message does no harm", async () => {
      const client = await open();
      expect((await client.request("junk"))?.result).toEqual({});
      expect((await client.request("echo", { still: "here" }))?.result).toEqual({ still: "here" });
    });

    test("a message that has no JSON text is refused, and nothing of it is sent", async () => {
      const client = await open();
      const cyclic: Record<string, unknown> = {};
      cyclic["itself"] = cyclic;
      for (const params of [{ big: 1n }, cyclic]) {
        const failure = await failureOf(client.request("echo", params));
        expect(failure).toMatchObject({ code: "invalid_params", details: { tool: "echo" } });
      }
      expect((await client.request("echo", { text: "x" }))?.result).toEqual({ text: "x" });
      expect(received("echo")).toHaveLength(1);
    });

    test.each([LIMIT_BYTES, 1024])(
      "a message over the limit is refused before it is sent (%d bytes)",
      async (limitBytes) => {
        const client = await open({ messageBytes: limitBytes });
        const failure = await failureOf(client.request("echo", { text: "é".repeat(limitBytes / 2) }));
        expect(failure).toMatchObject({ code: "limit_exceeded", details: { limitBytes } });
        expect((await client.request("echo", { text: "x" }))?.result).toEqual({ text: "x" });
        expect(received("echo")).toHaveLength(1);
      },
    );

    test("a message of exactly the limit is sent, and one of a byte more is not", async () => {
      const client = await open({ messageBytes: LIMIT_BYTES });
      await client.request("echo", { text: "" });
      const text = "x".repeat(LIMIT_BYTES - Buffer.byteLength(JSON.stringify(received("echo")[0])));
      expect((await client.request("echo", { text }))?.result).toEqual({ text });
      expect(await failureOf(client.request("echo", { text: `${text}x` }))).toMatchObject({
        code: "limit_exceeded",
        details: { bytes: LIMIT_BYTES + 1, limitBytes: LIMIT_BYTES },
      });
    });

    test("an answer over the limit is an error that names it, at once", async () => {
      const client = await open({ messageBytes: LIMIT_BYTES });
      // Four times as long on the way back.
      const failing = client
        .request("echo", { text: "x".repeat(LIMIT_BYTES / 2), times: 4 })
        .catch((error: unknown) => error);
      const failure = client.transport.ownStream
        ? await failing
        : await waitFor("the end", () => client.closings[0], PROMPT_MS);
      expect(failure).toMatchObject({
        code: "limit_exceeded",
        details: { limitBytes: LIMIT_BYTES, outcomeUnknown: true },
      });
    });

    test("a connection that breaks off is noticed at once, and the outcome is said to be unknown", async () => {
      const client = await open();
      const startedAt = performance.now();
      const failing = client.request("leave").catch((error: unknown) => error);
      const failure = client.transport.ownStream
        ? await failing
        : await waitFor("the end", () => client.closings[0], PROMPT_MS);
      expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS);
      expect(failure).toMatchObject({ code: "closed", details: { server: expect.any(String), outcomeUnknown: true } });
      expect(received("leave")).toHaveLength(1);
      expect(client.closings.length).toBeLessThanOrEqual(1);
    });

    test("adopting a dialect changes nothing about that", async () => {
      const client = await open();
      client.transport.adopt({ versionHeader: "2025-11-25", sessions: true, resumable: true, listens: false });
      expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
      client.transport.adopt({ versionHeader: "2026-07-28", sessions: false, resumable: false, listens: false });
      expect((await client.request("echo", { n: 2 }))?.result).toEqual({ n: 2 });
    });

    test("giving up on a message leaves the others alone", async () => {
      const client = await open();
      const cancellation = new Cancellation();
      const failing = client.request("silent", {}, { cancellation }).catch((error: unknown) => error);
      await waitFor("it arrives", () => received("silent").length > 0, PROMPT_MS);
      cancellation.cancel();
      if (client.transport.ownStream) expect(await failing).toMatchObject({ code: "cancelled" });
      expect((await client.request("echo", { n: 1 }))?.result).toEqual({ n: 1 });
    });

    test("close is prompt, can be repeated, ends what waits, and is not reported as a failure", async () => {
      const client = await open();
      const failing = client.request("silent").catch((error: unknown) => error);
      await waitFor("it arrives", () => received("silent").length > 0, PROMPT_MS);
      const startedAt = performance.now();
      await Promise.all([client.transport.close(), client.transport.close()]);
      await client.transport.close();
      expect(performance.now() - startedAt).toBeLessThan(6000);
      if (client.transport.ownStream)
        expect(await failing).toMatchObject({ code: "closed", details: { outcomeUnknown: true } });
      expect(client.closings).toEqual([]);
      expect(await failureOf(client.request("echo"))).toMatchObject({
        code: "closed",
        details: { outcomeUnknown: false },
      });
    });

    test("close before open is harmless", async () => {
      const fixture = await factory.create({});
      fixtures.push(fixture);
      await fixture.transport.close();
    });

    test("a server that does not exist fails the opening, or the first message, with a code", async () => {
      const transport = await factory.createToNobody();
      const client = new TransportClient(transport);
      clients.push(client);
      const failure = await failureOf(transport.open(client).then(() => client.request("echo")));
      expect(["connect_failed", "spawn_failed"]).toContain(failure.code);
    });

    test("diagnostics are plain facts", async () => {
      const client = await open();
      expect(JSON.parse(JSON.stringify(client.transport.diagnostics()))).toEqual(client.transport.diagnostics());
    });
  });
}
