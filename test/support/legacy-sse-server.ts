import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { JsonRpcMessage } from "../../src/protocol/jsonrpc.ts";

export interface LegacySeen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly message?: JsonRpcMessage;
}

export interface LegacyStream {
  readonly send: (text: string) => void;
  readonly response: ServerResponse;
}

export interface LegacyBehaviour {
  /** Answers the GET. Default: an event stream that names its endpoint. */
  readonly onGet?: (request: IncomingMessage, response: ServerResponse, server: LegacySseServer) => void;
  /** Answers the POST. Default: 202. */
  readonly onPost?: (message: JsonRpcMessage, response: ServerResponse, stream: LegacyStream) => void;
  /** Acts on a message, after the POST was answered. */
  readonly onMessage?: (message: JsonRpcMessage, stream: LegacyStream) => void;
}

/** A server of the HTTP+SSE transport of 2024-11-05, at /sse, which refuses POST there as such servers do. */
export class LegacySseServer {
  readonly seen: LegacySeen[] = [];
  readonly sockets = new Set<Socket>();
  readonly #behaviour: LegacyBehaviour;
  readonly #server: Server;
  readonly #streams = new Map<string, LegacyStream>();

  static async start(behaviour: LegacyBehaviour = {}): Promise<LegacySseServer> {
    const server = new LegacySseServer(behaviour);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  private constructor(behaviour: LegacyBehaviour) {
    this.#behaviour = behaviour;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/sse`;
  }

  get messages(): JsonRpcMessage[] {
    return this.seen.flatMap(({ message }) => (message === undefined ? [] : [message]));
  }

  /** Opens an event stream and names this endpoint on it; default: one of its own. */
  open(response: ServerResponse, endpoint?: string): LegacyStream {
    const id = String(this.#streams.size + 1);
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    const stream = { response, send: (text: string) => void response.write(`event: message\ndata: ${text}\n\n`) };
    this.#streams.set(id, stream);
    response.write(`event: endpoint\ndata: ${endpoint ?? `/messages?sessionId=${id}`}\n\n`);
    return stream;
  }

  async dispose(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const message = text === "" ? undefined : (JSON.parse(text) as JsonRpcMessage);
    this.seen.push({ method, url, headers, ...(message === undefined ? {} : { message }) });
    if (method === "GET") {
      if (this.#behaviour.onGet === undefined) this.open(response);
      else this.#behaviour.onGet(request, response, this);
      return;
    }
    const stream = this.#streams.get(new URL(url, this.origin).searchParams.get("sessionId") ?? "");
    if (stream === undefined || message === undefined) {
      response.writeHead(url.startsWith("/sse") ? 405 : 404).end();
      return;
    }
    if (this.#behaviour.onPost === undefined) response.writeHead(202).end("Accepted");
    else this.#behaviour.onPost(message, response, stream);
    this.#behaviour.onMessage?.(message, stream);
  }
}
