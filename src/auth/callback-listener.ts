import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import { type CallbackPage, PAGE_HEADERS, PAGES, renderPage } from "./callback-page.ts";

/** The authorization response, as the browser brought it or a person pasted it. */
export interface Callback {
  readonly parameters: URLSearchParams;
  /** Shows in the browser how it ended; to be called once. */
  finish(outcome: "done" | "failed"): void;
}

/** How many ports are tried to find one that is free on both IPv4 and IPv6. */
const TRIES = 10;
/** How long a page may take to arrive before its connection is cut. */
const PAGE_MS = 500;

/**
 * Waits on a loopback port, at both addresses of `localhost`, for the one answer of one sign-in (RFC 8252 section 7.3). Whoever
 * else comes, with another state or for a second time, is told so and changes nothing.
 */
export class CallbackListener {
  /** One for each loopback address; both use the port of the first. */
  readonly #servers: readonly [Server, ...Server[]];
  readonly #address: string;
  readonly #place: URL;
  #state: string | undefined;
  #accept: (callback: Callback) => void = () => {};
  #answered = false;
  /** The browser's request for the callback page, held until the outcome is known. */
  #held: ServerResponse | undefined;

  /**
   * @param address where the browser is sent back to; where it names no port, any will do
   * @param port to use then; 0: the system's choice
   * @throws the operating system's error, such as `EADDRINUSE`
   */
  static async open(address: string, port: number, tries = TRIES): Promise<CallbackListener> {
    const place = new URL(address);
    const isName = place.hostname.endsWith("localhost");
    const wanted = Number(place.port) || port;
    const first = await listening(wanted, isName ? "127.0.0.1" : place.hostname.replace(/[[\]]/g, ""));
    if (!isName) return new CallbackListener([first], address, place);
    try {
      // Browsers ask there first; who listens there instead would be sent the answer.
      const second = await listening(portOf(first), "::1");
      return new CallbackListener([first, second], address, place);
    } catch (error) {
      // Any other: this machine has no IPv6.
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return new CallbackListener([first], address, place);
      first.close();
      if (wanted === 0 && tries > 1) return CallbackListener.open(address, 0, tries - 1);
      throw error;
    }
  }

  private constructor(servers: readonly [Server, ...Server[]], address: string, place: URL) {
    this.#servers = servers;
    this.#address = address;
    this.#place = place;
    for (const server of servers) {
      // A connection that could not be accepted: the next one may be, and the wait has its bound.
      server.on("error", () => undefined);
      server.on("request", (request, response) => this.#answer(request, response));
    }
  }

  get port(): number {
    return portOf(this.#servers[0]);
  }

  get redirectUri(): string {
    if (this.#place.port !== "") return this.#address; // A registration is compared with it to the letter.
    return `http://${this.#place.hostname}:${this.port}${this.#place.pathname}`;
  }

  /** Resolves with the first answer that carries the state. */
  expect(state: string): Promise<Callback> {
    this.#state = state;
    return new Promise((resolve) => {
      this.#accept = resolve;
    });
  }

  /** Takes the address the browser ended at, or its query; returns whether it is the answer waited for. */
  paste(text: string): boolean {
    const trimmed = text.trim();
    const parameters = new URLSearchParams(trimmed.slice(trimmed.indexOf("?") + 1).replace(/#.*$/, ""));
    if (!this.#belongs(parameters) || this.#answered) return false;
    this.#answered = true;
    this.#accept({ parameters, finish: () => {} });
    return true;
  }

  /** Ends the listener and every connection to it; idempotent, never rejects. */
  async close(): Promise<void> {
    const open = this.#servers.filter((server) => server.listening);
    if (open.length === 0) return;
    const closed = Promise.all(open.map((server) => once(server, "close")));
    if (this.#held !== undefined) show(this.#held, PAGES.failed);
    for (const server of open) {
      server.close();
      server.closeIdleConnections();
    }
    const cut = setTimeout(() => {
      for (const server of open) server.closeAllConnections();
    }, PAGE_MS);
    await closed;
    clearTimeout(cut);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const target = request.url ?? "";
    const [path, query = ""] = target.split("?", 2);
    const parameters = new URLSearchParams(query);
    if (path !== this.#place.pathname || request.method !== "GET") show(response, PAGES.missing);
    else if (!this.#belongs(parameters)) show(response, PAGES.stranger);
    else if (this.#answered) show(response, PAGES.again);
    else {
      this.#answered = true;
      this.#held = response;
      this.#accept({ parameters, finish: (outcome) => this.#finish(outcome) });
    }
  }

  #belongs(parameters: URLSearchParams): boolean {
    return parameters.get("state") === this.#state; // None does until there is one: a missing parameter is null.
  }

  #finish(outcome: "done" | "failed"): void {
    if (this.#held !== undefined) show(this.#held, PAGES[outcome]);
    this.#held = undefined;
  }
}

async function listening(port: number, host: string): Promise<Server> {
  const server = createServer({ requestTimeout: 10_000 });
  server.listen(port, host);
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function show(response: ServerResponse, page: CallbackPage): void {
  response.writeHead(page.status, PAGE_HEADERS).end(renderPage(page));
}
