import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { afterAll, beforeAll } from "@jest/globals";

/** One request as it arrived, byte for byte where it matters. */
export interface Seen {
  readonly httpMethod: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated ones joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The JSON-RPC message in the body. */
  readonly rpc: {
    readonly id?: string | number;
    readonly method?: string;
    readonly params?: Record<string, unknown>;
    readonly result?: unknown;
  };
  /** Counts from 1 in the order in which connections were made. */
  readonly connection: number;
  /** Which request of its connection this is, from 1. */
  readonly turn: number;
}

export interface Scenario {
  /** Act on a `tools/call` as soon as its head is there, when most of its body was not read. */
  readonly early?: (exchange: FaultExchange) => void;
  /** The message whose exchange goes wrong; the others are answered well. Default: `tools/call`. `*`: all of them. */
  readonly on?: string;
  readonly post?: (exchange: FaultExchange) => void | Promise<void>;
  readonly get?: (exchange: FaultExchange) => void | Promise<void>;
  readonly delete?: (exchange: FaultExchange) => void | Promise<void>;
  /** Headers that every good answer to `initialize` carries. */
  readonly opening?: Readonly<Record<string, string>>;
}

export interface FaultServerOptions {
  readonly scenarios: Readonly<Record<string, Scenario>>;
  readonly host?: string;
  readonly tls?: TlsOptions;
  /** What happens to a connection before anything is read from it. */
  readonly onConnection?: (socket: Socket) => void;
}

/**
 * An MCP server on a raw socket that misbehaves by the byte. Each scenario has its own path; the ledger keeps what arrived
 * and what was executed.
 */
export class FaultServer {
  readonly seen: Seen[] = [];
  /** The paths on which a tool was run, once for each run. */
  readonly executed: string[] = [];
  /** Room for scenarios that remember. */
  readonly state = new Map<string, number>();
  readonly sockets = new Set<Socket>();
  connections = 0;
  readonly #options: FaultServerOptions;
  readonly #server: Server;

  static async start(options: FaultServerOptions): Promise<FaultServer> {
    const server = new FaultServer(options);
    await server.#listen();
    return server;
  }

  /** The server of one test file, running while its tests do. */
  static forTests(scenarios: FaultServerOptions["scenarios"]): FaultServer {
    const server = new FaultServer({ scenarios });
    beforeAll(() => server.#listen());
    afterAll(() => server.dispose());
    return server;
  }

  private constructor(options: FaultServerOptions) {
    this.#options = options;
    const listener = (socket: Socket): void => this.#connected(socket);
    this.#server =
      options.tls === undefined ? createServer({ noDelay: true }, listener) : createTlsServer(options.tls, listener);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The URL of a scenario. */
  url(scenario: string, host = this.#options.host ?? "127.0.0.1"): string {
    const name = host.includes(":") ? `[${host}]` : host;
    return `${this.#options.tls === undefined ? "http" : "https"}://${name}:${this.port}/${scenario}`;
  }

  requests(scenario: string, httpMethod?: string): Seen[] {
    return this.seen.filter(
      (each) => each.path === `/${scenario}` && (httpMethod === undefined || each.httpMethod === httpMethod),
    );
  }

  /** POSTs with messages of this method. */
  posts(scenario: string, method = "tools/call"): Seen[] {
    return this.requests(scenario, "POST").filter(({ rpc }) => rpc.method === method);
  }

  /** How often a tool was run on the path of the scenario. */
  executions(scenario: string): number {
    return this.executed.filter((path) => path === `/${scenario}`).length;
  }

  count(key: string): number {
    const next = (this.state.get(key) ?? 0) + 1;
    this.state.set(key, next);
    return next;
  }

  /** Empties the ledger, for the next test. */
  forget(): void {
    this.seen.length = 0;
    this.executed.length = 0;
    this.state.clear();
  }

  async dispose(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, this.#options.host ?? "127.0.0.1", resolve));
  }

  #connected(socket: Socket): void {
    const connection = ++this.connections;
    this.sockets.add(socket);
    socket.on("close", () => this.sockets.delete(socket));
    // A peer that goes away is what this server is for.
    socket.on("error", () => undefined);
    this.#options.onConnection?.(socket);
    let turn = 0;
    let chunks: Buffer[] = [];
    let size = 0;
    /** Bytes that make it worth looking again. */
    let wanted = 0;
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      while (size >= wanted && size > 0) {
        const buffer = Buffer.concat(chunks);
        chunks = [buffer];
        const request = this.#parse(buffer, connection, turn + 1);
        wanted = typeof request === "number" ? request : 0;
        if (typeof request === "number") return;
        chunks = [buffer.subarray(request.end)];
        size -= request.end;
        const exchange = new FaultExchange(this, socket, request.seen, request.scenario);
        this.seen.push(request.seen);
        turn++;
        if (!request.early) {
          void this.#serve(exchange, request.scenario);
          continue;
        }
        // What follows is left unread, or at least unheard.
        socket.removeAllListeners("data").pause();
        request.scenario.early?.(exchange);
        return;
      }
    });
  }

  /** The first request in the bytes, or how many bytes are needed before it can be there. */
  #parse(bytes: Buffer, connection: number, turn: number): Parsed | number {
    const head = bytes.indexOf("\r\n\r\n");
    if (head < 0) return bytes.length + 1;
    const parsed = parseHead(bytes.toString("latin1", 0, head));
    const scenario = this.#options.scenarios[parsed.path.slice(1)] ?? {};
    if (scenario.early !== undefined && bytes.includes('"method":"tools/call"')) {
      const seen: Seen = { ...parsed, body: "", rpc: { method: "tools/call" }, connection, turn };
      return { seen, scenario, end: bytes.length, early: true };
    }
    const end = head + 4 + Number(parsed.headers["content-length"] ?? 0);
    if (bytes.length < end) return end;
    const body = bytes.toString("utf8", head + 4, end);
    const seen: Seen = { ...parsed, body, rpc: body === "" ? {} : JSON.parse(body), connection, turn };
    return { seen, scenario, end, early: false };
  }

  async #serve(exchange: FaultExchange, scenario: Scenario): Promise<void> {
    const { httpMethod, rpc } = exchange.seen;
    if (httpMethod === "GET") return scenario.get === undefined ? exchange.respond(405) : scenario.get(exchange);
    if (httpMethod === "DELETE")
      return scenario.delete === undefined ? exchange.respond(200) : scenario.delete(exchange);
    const on = scenario.on ?? "tools/call";
    if (scenario.post !== undefined && (on === "*" || rpc.method === on)) return scenario.post(exchange);
    exchange.good();
  }
}

interface Parsed {
  readonly seen: Seen;
  readonly scenario: Scenario;
  /** Where the next request begins. */
  readonly end: number;
  readonly early: boolean;
}

/** What a scenario answers with. */
export class FaultExchange {
  readonly server: FaultServer;
  readonly socket: Socket;
  readonly seen: Seen;
  readonly #scenario: Scenario;

  constructor(server: FaultServer, socket: Socket, seen: Seen, scenario: Scenario) {
    this.server = server;
    this.socket = socket;
    this.seen = seen;
    this.#scenario = scenario;
  }

  /** The right answer, as text; a tool is run for it. */
  answer(): string {
    const { id, method, params } = this.seen.rpc;
    if (method === "tools/call") this.server.executed.push(this.seen.path);
    return JSON.stringify({ jsonrpc: "2.0", id, ...goodAnswer(method, params) });
  }

  /** What a well-behaved server does. */
  good(headers: Readonly<Record<string, string>> = {}): void {
    if (this.seen.rpc.id === undefined || this.seen.rpc.method === undefined) {
      this.respond(202);
      return;
    }
    const opening = this.seen.rpc.method === "initialize" ? this.#scenario.opening : undefined;
    this.json(this.answer(), 200, { ...opening, ...headers });
  }

  json(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.respond(status, { "content-type": "application/json", ...headers }, body);
  }

  /** A whole response, with the content length the body has unless the headers say another. */
  respond(status: number, headers: Readonly<Record<string, string>> = {}, body: string | Buffer = ""): void {
    const bytes = Buffer.from(body);
    this.write(
      Buffer.concat([Buffer.from(head(status, { "content-length": String(bytes.length), ...headers })), bytes]),
    );
  }

  /** The head of a chunked response. */
  begin(status = 200, headers: Readonly<Record<string, string>> = { "content-type": "text/event-stream" }): void {
    this.write(head(status, { ...headers, "transfer-encoding": "chunked" }));
  }

  chunk(data: string | Buffer): void {
    const bytes = Buffer.from(data);
    this.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]));
  }

  event(data: string, { id, retry }: { id?: string; retry?: number } = {}): void {
    this.chunk(
      `${id === undefined ? "" : `id: ${id}\n`}${retry === undefined ? "" : `retry: ${retry}\n`}data: ${data}\n\n`,
    );
  }

  finish(): void {
    this.write("0\r\n\r\n");
  }

  write(data: string | Buffer): void {
    if (!this.socket.destroyed) this.socket.write(data);
  }

  /** FIN. */
  close(): void {
    this.socket.end();
  }

  /** RST, after what was written has had time to arrive. */
  reset(): void {
    setTimeout(() => this.socket.resetAndDestroy(), 5);
  }
}

export function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${REASONS[status] ?? "Whatever"}\r\n${lines.join("")}\r\n`;
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  202: "Accepted",
  404: "Not Found",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

const ECHO = {
  name: "echo",
  description: "Says it again.",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
};

function goodAnswer(method: string | undefined, params: Record<string, unknown> | undefined): Record<string, unknown> {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: params?.["protocolVersion"],
          capabilities: { tools: {} },
          serverInfo: { name: "fault", version: "1" },
        },
      };
    case "tools/list":
      return { result: { tools: [ECHO] } };
    case "tools/call":
      return {
        result: {
          content: [
            { type: "text", text: String((params?.["arguments"] as { text?: unknown } | undefined)?.text ?? "") },
          ],
        },
      };
    case "ping":
      return { result: {} };
    default:
      return { error: { code: -32601, message: "Method not found" } };
  }
}

function parseHead(text: string): Pick<Seen, "httpMethod" | "path" | "query" | "headers"> {
  const [request = "", ...lines] = text.split("\r\n");
  const [httpMethod = "", target = ""] = request.split(" ");
  const { pathname, searchParams } = new URL(target, "http://server");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { httpMethod, path: pathname, query: searchParams, headers };
}
