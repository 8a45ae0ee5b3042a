import type { Agent, AgentOptions, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { Cancellation } from "../cancellation.ts";
import { clock } from "../clock.ts";
import type { Proxied } from "./proxy.ts";
import type { SendOptions } from "./transport.ts";

export interface HttpRequest {
  readonly method: "POST" | "GET" | "DELETE";
  /** Path and query on the pool's origin. */
  readonly path: string;
  /** Names and values in turns, checked. */
  readonly headers: readonly string[];
  readonly body?: string;
  /** What errors call it: the method of the message. */
  readonly label: string;
  readonly cancel?: Cancellation | undefined;
  /** Told when the message in it may run. */
  readonly sender?: Pick<SendOptions, "mayRun"> | undefined;
  /** How long the connection it goes out on may have been unused; absent: as long as the pool keeps one. */
  readonly idleMs?: number | undefined;
  /** Nobody is asked to sign in for it. */
  readonly quiet?: boolean | undefined;
  /** It ends the session: sent also after everything else was stopped. */
  readonly isLast?: boolean;
  /** Those of the headers that the sign-in gave. */
  readonly authorization?: Readonly<Record<string, string>>;
}

/** Time for one address of a host before the next is tried; Node's 250 ms would give up on working but distant hosts. */
const ADDRESS_MS = 2000;
/** Pause between the probes that keep an idle connection known to the routers on its way. */
const PROBE_MS = 30_000;
const PATIENCE = 3;

/**
 * The connections to one origin: kept alive, unlimited in number, never a reason for Node to stay alive while unused.
 * Nothing here ends a connection that is in use; what a server says of its idle time only shortens the reuse.
 */
export class Pool {
  /** The proxy in between, without credentials. */
  readonly proxy: string | undefined;
  readonly #agent: Agent;
  readonly #request: (options: RequestOptions) => ClientRequest;
  readonly #proxied: Proxied | undefined;
  readonly #target: { readonly protocol: string; readonly host: string; readonly port: number };
  #trustsSystem = false;
  #trusting: Promise<boolean> | undefined;
  /** Responses whose answer has been read and whose connection should be free in a moment. */
  #ending = 0;
  readonly #waiters: (() => void)[] = [];
  /** How often in a row waiting for such a connection may still fail before it is not tried any more. */
  #patience = PATIENCE;

  /** Loads what this origin needs, and nothing else: node:http or node:https, a proxy's agent only where one applies. */
  static async open(url: URL, idleSocketMs: number): Promise<Pool> {
    const secure = url.protocol === "https:";
    const { Agent, request } = secure ? await import("node:https") : await import("node:http");
    const options: AgentOptions & { autoSelectFamilyAttemptTimeout: number } = {
      keepAlive: true,
      keepAliveMsecs: PROBE_MS,
      maxSockets: Number.POSITIVE_INFINITY,
      noDelay: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    };
    const proxied = namesProxy(process.env) ? (await import("./proxy.ts")).proxyAgent(url, options) : undefined;
    const agent = proxied?.agent ?? new Agent(options);
    boundIdleTime(agent, idleSocketMs);
    return new Pool(url, agent, request, proxied);
  }

  private constructor(
    url: URL,
    agent: Agent,
    request: (options: RequestOptions) => ClientRequest,
    proxied: Proxied | undefined,
  ) {
    this.proxy = proxied?.proxy;
    this.#proxied = proxied;
    this.#agent = agent;
    this.#request = request;
    this.#target = {
      protocol: url.protocol,
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
    };
  }

  request({ method, path, headers, idleMs }: HttpRequest): ClientRequest {
    this.#closeExpired();
    // Only now: a sign-in, or a renewal, may have taken its time.
    if (idleMs !== undefined) this.#closeIdle(idleMs);
    const { protocol, host, port } = this.#target;
    return this.#request({
      protocol,
      host,
      port,
      path,
      method,
      agent: this.#agent,
      // A flat list is written as it stands, which is faster; an agent for proxies rewrites the headers and needs them by name.
      headers: this.proxy === undefined ? (headers as string[]) : byName(headers),
    });
  }

  /** Closes what there is of a request, its connection included. */
  giveUp(request: ClientRequest): void {
    request.destroy();
    this.#proxied?.giveUp(request);
  }

  /** Counts a response that should end at any moment, and then free its connection. */
  ending(message: IncomingMessage): void {
    this.#ending++;
    message.once("close", () => {
      this.#ending--;
      this.#waiters.shift()?.();
    });
  }

  /** Whether waiting a moment for a free connection is likely to be faster than opening a new one. */
  get isAboutToFree(): boolean {
    return (
      this.#ending > this.#waiters.length && this.#patience > 0 && Object.keys(this.#agent.freeSockets).length === 0
    );
  }

  /** Waits for a connection to become free, at most `momentMs`. */
  untilFree(momentMs: number): Promise<void> {
    return new Promise((resolve) => {
      const free = (): void => {
        clearTimeout(timer);
        this.#patience = PATIENCE;
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(free), 1);
        this.#patience--;
        resolve();
      }, momentMs);
      this.#waiters.push(free);
    });
  }

  destroy(): void {
    this.#agent.destroy();
  }

  /** Whether connections made from now on are made with the certificates of the operating system too. */
  get trustsSystem(): boolean {
    return this.#trustsSystem;
  }

  /** Trusts the certificates of the operating system too, where Node can read them; everybody who asks shares one reading. Whether it does. */
  trustSystem(): Promise<boolean> {
    this.#trusting ??= this.#readSystem();
    return this.#trusting;
  }

  async #readSystem(): Promise<boolean> {
    const tls: typeof import("node:tls") & { getCACertificates?: (type: string) => string[] } = await import(
      "node:tls"
    );
    if (tls.getCACertificates === undefined) return false;
    try {
      const ca = [...tls.getCACertificates("default"), ...tls.getCACertificates("system")];
      const { options } = this.#agent as Agent & { options: { secureContext?: object } };
      // A context, since the agent would make a list of certificates part of every connection's name.
      options.secureContext = tls.createSecureContext({ ca });
    } catch {
      return false; // A store that cannot be read: what is known is that the certificate was not trusted.
    }
    this.#trustsSystem = true;
    return true;
  }

  /** Idle connections are looked at only when one is needed: no timer runs for them. */
  #closeExpired(): void {
    this.#closeWhere((socket) => idleMs(socket) >= (socket[KEPT_MS] ?? 0));
  }

  /** Closes every connection that has not been in use for so long. */
  #closeIdle(milliseconds: number): void {
    this.#closeWhere((socket) => idleMs(socket) >= milliseconds);
  }

  /** Closes idle connections, which stand in the order in which they became idle, up to the first that may stay. */
  #closeWhere(old: (socket: IdleSocket) => boolean): void {
    const { freeSockets } = this.#agent;
    for (const name in freeSockets) {
      const sockets = freeSockets[name] as IdleSocket[] | undefined;
      // Taken out by hand: a destroyed socket would stay in the list, to be handed out, until its `close` event.
      while (sockets?.[0] !== undefined && old(sockets[0])) sockets.shift()?.destroy();
    }
  }
}

function namesProxy(environment: NodeJS.ProcessEnv): boolean {
  return PROXY_VARIABLES.some((name) => environment[name] || environment[name.toUpperCase()]);
}

const PROXY_VARIABLES = ["http_proxy", "https_proxy", "all_proxy"];

const IDLE_SINCE = Symbol("idle since");
const KEPT_MS = Symbol("kept ms");

type IdleSocket = Socket & { [IDLE_SINCE]?: { readonly now: number; readonly date: number }; [KEPT_MS]?: number };

/**
 * How long a socket has been idle, by the monotonic and the wall clock: the former stands still while the machine sleeps, after which a
 * connection is dead without an error.
 */
function idleMs({ [IDLE_SINCE]: since }: IdleSocket): number {
  if (since === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(clock.now() - since.now, Date.now() - since.date);
}

function boundIdleTime(agent: Agent, idleSocketMs: number): void {
  // Node's type does not say that the returned boolean decides.
  const hooks = agent as unknown as { keepSocketAlive(socket: IdleSocket): boolean };
  const keep = hooks.keepSocketAlive;
  hooks.keepSocketAlive = (socket) => {
    const hintMs = announcedIdleMs(socket);
    if (hintMs <= 0 || !keep.call(agent, socket)) return false;
    socket[IDLE_SINCE] = { now: clock.now(), date: Date.now() };
    socket[KEPT_MS] = Math.min(idleSocketMs, hintMs);
    return true;
  };
}

/** How long the server says it keeps an idle connection, less a second for the way; infinite if it says nothing. */
function announcedIdleMs(socket: Socket): number {
  const { _httpMessage: request } = socket as Socket & {
    _httpMessage?: { res?: { headers: Record<string, unknown> } };
  };
  const hint = request?.res?.headers["keep-alive"];
  const seconds = typeof hint === "string" ? /\btimeout=(\d+)/.exec(hint)?.[1] : undefined;
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000 - 1000;
}

function byName(headers: readonly string[]): Record<string, string> {
  const named: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) named[headers[at] as string] = headers[at + 1] as string;
  return named;
}
