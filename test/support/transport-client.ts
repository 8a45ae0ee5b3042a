import { AdapterError, isAdapterError } from "../../src/errors.ts";
import { LIMITS, type Limits, resolveLimits } from "../../src/limits.ts";
import type { Wire } from "../../src/protocol/dialect.ts";
import { isResponse, type JsonRpcMessage, parseMessages } from "../../src/protocol/jsonrpc.ts";
import type { HttpTransportOptions } from "../../src/transport/client.ts";
import { HttpTransport } from "../../src/transport/http.ts";
import type { Raw, SendOptions, Sink, Transport } from "../../src/transport/transport.ts";

export const SESSION_WIRE: Wire = { versionHeader: "2025-11-25", sessions: true, resumable: true, listens: false };
export const STATELESS_WIRE: Wire = { versionHeader: "2026-07-28", sessions: false, resumable: false, listens: false };

export interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The least that a session does with a transport: ids, answers, and everything else kept for the test to look at. */
export class TransportClient implements Sink {
  readonly transport: Transport;
  readonly received: JsonRpcMessage[] = [];
  readonly closings: Error[] = [];
  readonly #waiting = new Map<unknown, { settle: (reply: Reply) => void; done: boolean }>();
  #nextId = 1;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Sends a request. Resolves with its answer, or with `undefined` if the exchange ended without one. */
  async request(
    method: string,
    params: Record<string, unknown> = {},
    options: SendOptions = {},
  ): Promise<Reply | undefined> {
    const id = this.#nextId++;
    let reply: Reply | undefined;
    let arrived: () => void = () => undefined;
    const answer = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const waiting = {
      done: false,
      settle: (given: Reply) => {
        reply = given;
        arrived();
      },
    };
    this.#waiting.set(id, waiting);
    try {
      await this.transport.send({ jsonrpc: "2.0", id, method, params }, { answered: () => waiting.done, ...options });
      if (!this.transport.ownStream) await answer;
      return reply;
    } finally {
      this.#waiting.delete(id);
    }
  }

  notify(method: string, options?: SendOptions): Promise<void> {
    return this.transport.send({ jsonrpc: "2.0", method }, options);
  }

  call(text: string, options?: SendOptions): Promise<Reply | undefined> {
    return this.request("tools/call", { name: "echo", arguments: { text } }, options);
  }

  /** Opens a session the way a handshake does. */
  async handshake(wire: Wire = SESSION_WIRE): Promise<void> {
    await this.request("initialize", {
      protocolVersion: wire.versionHeader,
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    this.transport.adopt(wire);
    await this.notify("notifications/initialized");
  }

  message(raw: Raw): boolean {
    const messages = parseMessages(raw.toString(), LIMITS);
    if (messages === undefined) return false;
    for (const message of messages) {
      this.received.push(message);
      const waiting = isResponse(message) ? this.#waiting.get(message.id) : undefined;
      if (waiting === undefined || waiting.done) continue;
      waiting.done = true;
      waiting.settle(message as Reply);
    }
    return true;
  }

  closed(error: Error): void {
    this.closings.push(error);
  }
}

const opened: TransportClient[] = [];

export async function httpClient(
  url: string,
  options: Partial<Omit<HttpTransportOptions, "limits">> & { readonly limits?: Partial<Limits> } = {},
): Promise<TransportClient> {
  const transport = new HttpTransport({
    server: "srv",
    url,
    headers: {},
    ...options,
    limits: resolveLimits(options.limits),
  });
  const client = new TransportClient(transport);
  opened.push(client);
  await transport.open(client);
  return client;
}

/** Closes what `httpClient` has opened. */
export async function closeClients(): Promise<void> {
  await Promise.all(opened.splice(0).map(({ transport }) => transport.close()));
}

export function textOf(reply: Reply | undefined): string | undefined {
  return (reply?.result as { content?: { text?: string }[] } | undefined)?.content?.[0]?.text;
}

/** The AdapterError that the work fails with; fails if there is none. */
export async function failureOf(work: Promise<unknown>): Promise<AdapterError> {
  try {
    await work;
  } catch (error) {
    if (isAdapterError(error)) return error;
    throw error;
  }
  throw new AdapterError("internal", { reason: "it did not fail" });
}
