import { setMaxListeners } from "node:events";
import type { Authorizer, Challenge, Wait } from "../authorizer.ts";
import type { Cancellation } from "../cancellation.ts";
import { defined } from "../defined.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { PersonWait } from "../person-wait.ts";
import { quoteText } from "../remote-text.ts";
import { Roster } from "../roster.ts";
import { readUrl } from "../web-address.ts";
import { Cookies } from "./cookies.ts";
import { type ExchangeContext, exchange, exchangeTrusting, type Receive } from "./exchange.ts";
import { type ConstantHeaders, constantHeaders, withHeaders } from "./http-headers.ts";
import { type HttpRequest, Pool } from "./pool.ts";
import { quoteBody } from "./quoting.ts";
import type { HttpResponse } from "./response.ts";

export interface HttpTransportOptions {
  readonly server: string;
  /** `http` or `https`, without user information. */
  readonly url: string;
  /** The entry's own headers. They go to this URL's origin and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: Limits;
  /** Absent: never sign in. */
  readonly signIn?: SignIn;
}

export interface SignIn {
  /** Headers are asked for before the first request, not only after a refusal. */
  readonly eager: boolean;
  readonly load: () => Promise<Authorizer>;
  /** Says whether a person is being waited for: the time is theirs then. */
  readonly wait?: PersonWait;
}

const CHALLENGE_CHARACTERS = 1000;
const INSUFFICIENT_SCOPE = /\berror\s*=\s*"?insufficient_scope\b/i;

/** The outcome of a request that was refused, unexecuted, with an authorization challenge. */
class Challenged {
  readonly challenge: Challenge;

  constructor(challenge: Challenge) {
    this.challenge = challenge;
  }
}

/** A signal, created on demand, that is aborted when the request is cancelled or the client is stopped. */
class RequestWait implements Wait {
  readonly #cancel: Cancellation | undefined;
  readonly #stop: AbortSignal;

  constructor(cancel: Cancellation | undefined, stop: AbortSignal) {
    this.#cancel = cancel;
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#cancel === undefined ? this.#stop : AbortSignal.any([this.#cancel.signal, this.#stop]);
  }
}

/** Requests to one origin with its headers and, once it asks for it, its authorization. Each request is sent once. */
export class HttpClient {
  readonly server: string;
  readonly url: URL;
  /** Path and query of the URL. */
  readonly path: string;
  readonly limits: Limits;
  readonly #options: HttpTransportOptions;
  readonly #context: ExchangeContext;
  readonly #stop = new AbortController();
  #headers: ConstantHeaders | undefined;
  #pool: Pool | undefined;
  /** The pool, once a response has come through it: its certificates are trusted then. */
  #ready: Pool | undefined;
  #opening: Promise<Pool> | undefined;
  #authorizer: Authorizer | undefined;
  #loading: Promise<Authorizer> | undefined;
  #cookies: Cookies | undefined;

  /** @throws AdapterError `config.url`. */
  constructor(options: HttpTransportOptions) {
    this.server = options.server;
    this.limits = options.limits;
    this.url = addressOf(options.url);
    this.path = this.url.pathname + this.url.search;
    this.#options = options;
    // Each stream that is to be resumed listens.
    setMaxListeners(Number.POSITIVE_INFINITY, this.#stop.signal);
    this.#context = { server: this.server, url: `${this.url.origin}${this.url.pathname}`, inFlight: new Roster() };
  }

  /** @throws AdapterError `header.entry`. */
  get headers(): ConstantHeaders {
    this.#headers ??= constantHeaders(this.server, this.url, this.#options.headers);
    return this.#headers;
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Sends one request and hands the response to `receive`, in the same turn. A request that was refused unexecuted for lack of
   * authorization is sent again after each successful authorization.
   * @throws AdapterError what `exchange` and `receive` throw; `auth_required`.
   */
  exchange<T>(request: HttpRequest, receive: Receive<T>): Promise<T> {
    const pool = this.#ready;
    if (
      pool === undefined ||
      this.#authorizer !== undefined ||
      this.#options.signIn?.eager ||
      this.#stop.signal.aborted
    )
      return this.#exchange(request, receive);
    if (pool.isAboutToFree) return pool.untilFree(this.limits.endingMs).then(() => this.#exchange(request, receive));
    // The fast path: a connection has worked before, and the server has not asked for a sign-in.
    const sent = this.#withCookies(request);
    return exchange<T | Challenged>(this.#context, pool, sent, this.#unlessChallenged(request, receive, pool)).then(
      (outcome) => (outcome instanceof Challenged ? this.#exchange(request, receive, outcome) : outcome),
    );
  }

  /** Ends what is on its way; nothing is sent any more but what ends the session. */
  stop(): void {
    const { server } = this;
    this.#stop.abort(new AdapterError("closed.stopped", { server, outcomeUnknown: false }));
    for (const each of this.#context.inFlight.all())
      each.fail(new AdapterError("closed.stopped", { server, outcomeUnknown: each.outcomeUnknown }));
  }

  destroy(): void {
    this.#pool?.destroy();
  }

  /** The path with authorization. `refusal`: the challenge that the request was answered with already. */
  async #exchange<T>(request: HttpRequest, receive: Receive<T>, refusal?: Challenged): Promise<T> {
    const { signIn, limits } = this.#options;
    const quiet = request.quiet === true;
    if (signIn?.eager && this.#authorizer === undefined && !quiet) await this.#loadAuthorizer(signIn.load);
    let outcome = refusal ?? (await this.#authorizedOnce(request, receive));
    for (let authorizations = 0; outcome instanceof Challenged; authorizations++) {
      const { challenge }: Challenged = outcome;
      // A call takes several messages, and each may want another permission: nobody is asked for more than the limit together.
      const asked = Math.max(authorizations, signIn?.wait?.asked ?? 0);
      if (signIn === undefined || quiet || asked >= limits.authorizations) throw this.#refused(challenge);
      const authorizer = this.#authorizer ?? (await this.#loadAuthorizer(signIn.load));
      await authorizer.challenge(challenge, new RequestWait(request.cancel, this.#stop.signal).signal);
      this.#checkRunning();
      outcome = await this.#authorizedOnce(request, receive);
    }
    return outcome;
  }

  async #authorizedOnce<T>(request: HttpRequest, receive: Receive<T>): Promise<T | Challenged> {
    if (this.#authorizer === undefined) return this.#once(request, receive);
    const { method, cancel, isLast } = request;
    const wait = isLast && cancel !== undefined ? cancel : new RequestWait(cancel, this.#stop.signal);
    const headers = await this.#authorizer.headers({ method, url: this.#urlOf(request) }, wait);
    return this.#once({ ...request, headers: withHeaders(request.headers, headers), authorization: headers }, receive);
  }

  async #once<T>(request: HttpRequest, receive: Receive<T>): Promise<T | Challenged> {
    const pool = this.#pool ?? (await this.#open());
    if (request.isLast !== true) this.#checkRunning();
    const sent = this.#withCookies(request);
    return exchangeTrusting(this.#context, pool, sent, this.#unlessChallenged(request, receive, pool));
  }

  #withCookies(request: HttpRequest): HttpRequest {
    const cookies = this.#cookies?.header ?? "";
    return cookies === "" ? request : { ...request, headers: [...request.headers, "Cookie", cookies] };
  }

  #keepCookies(set: readonly string[] | undefined): void {
    if (set === undefined) return;
    if (Object.keys(this.#options.headers).some((name) => /^cookie$/i.test(name))) return; // The entry has its own.
    this.#cookies ??= new Cookies();
    this.#cookies.keep(set);
  }

  #unlessChallenged<T>(request: HttpRequest, receive: Receive<T>, pool: Pool): Receive<T | Challenged> {
    return (response) => {
      this.#authorizer?.observe?.(response.headers, response.status, request.authorization ?? {});
      this.#ready = pool;
      this.#keepCookies(response.headers["set-cookie"]);
      return isChallenge(response) ? this.#challenged(request, response) : receive(response);
    };
  }

  #open(): Promise<Pool> {
    this.#opening ??= Pool.open(this.url, this.limits.idleSocketMs).then((pool) => {
      this.#pool = pool;
      return pool;
    });
    return this.#opening;
  }

  async #challenged(request: HttpRequest, response: HttpResponse): Promise<Challenged> {
    request.sender?.mayRun?.(false);
    const { refusalBytes, lingerMs, quotedCharacters } = this.limits;
    const body = quoteBody(await response.beginning(refusalBytes, lingerMs), quotedCharacters);
    const { method } = request;
    const wwwAuthenticate = response.headers["www-authenticate"] ?? "";
    const status = response.status as 401 | 403;
    const { authorization: sent = {} } = request;
    return new Challenged({
      method,
      url: this.#urlOf(request),
      status,
      wwwAuthenticate,
      headers: response.headers,
      sent,
      ...(body === "" ? {} : { body }),
    });
  }

  #urlOf({ path }: HttpRequest): string {
    return this.url.origin + path;
  }

  async #loadAuthorizer(load: () => Promise<Authorizer>): Promise<Authorizer> {
    this.#loading ??= load();
    try {
      this.#authorizer = await this.#loading;
      return this.#authorizer;
    } finally {
      // After a failure the next request tries again.
      this.#loading = undefined;
    }
  }

  #refused({ status, wwwAuthenticate, body }: Challenge): AdapterError {
    return new AdapterError("auth.required", {
      server: this.server,
      status,
      wwwAuthenticate: quoteText(wwwAuthenticate, CHALLENGE_CHARACTERS),
      ...defined({ body }),
      hint:
        this.#options.signIn !== undefined
          ? "It keeps refusing the tokens of the sign-in."
          : 'Check the "headers" of its entry.',
    });
  }

  #checkRunning(): void {
    if (this.#stop.signal.aborted)
      throw new AdapterError("closed.stopped", { server: this.server, outcomeUnknown: false });
  }
}

function isChallenge({ status, headers }: HttpResponse): boolean {
  return status === 401 || (status === 403 && INSUFFICIENT_SCOPE.test(headers["www-authenticate"] ?? ""));
}

function addressOf(text: string): URL {
  const read = readUrl(text);
  if ("reason" in read) throw new AdapterError("config.url", { reason: read.reason });
  return read.url;
}
