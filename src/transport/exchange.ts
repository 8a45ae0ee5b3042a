import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { CancelListener, Cancellation } from "../cancellation.ts";
import { defined } from "../defined.ts";
import { AdapterError, isSituation, reasonOf } from "../errors.ts";
import { promised } from "../promised.ts";
import type { Roster, Rostered } from "../roster.ts";
import type { HttpRequest, Pool } from "./pool.ts";
import { HttpResponse } from "./response.ts";

/** What the exchanges of one client share: the facts for their errors, and the set of those in flight, so that all can be ended. */
export interface ExchangeContext {
  readonly server: string;
  /** Origin and path: what errors may show. */
  readonly url: string;
  readonly inFlight: Roster<Exchange>;
}

/** Called in the same turn as the response head; the exchange is over when the returned promise settles. */
export type Receive<T> = (response: HttpResponse) => Promise<T>;

/**
 * Sends one request, once, and hands its response to `receive`.
 * No clock runs here: only the request's `cancel`, `Exchange.fail` or the other side end it, and then its socket is closed.
 * @throws AdapterError `connect.failed` (nothing was sent), `closed` (outcome unknown), `protocol.unreadable`, `cancelled`.
 */
export function exchange<T>(
  context: ExchangeContext,
  pool: Pool,
  request: HttpRequest,
  receive: Receive<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (request.cancel?.cancelled) return reject(new AdapterError("cancelled", { server: context.server }));
    const running = new Exchange(context, pool, request, reject, (response) => {
      promised(receive, response).then(
        (value) => {
          running.finish();
          resolve(value);
        },
        (error: unknown) => {
          running.fail(error);
          running.finish();
          reject(error);
        },
      );
    });
  });
}

/**
 * As `exchange`. Where Node does not know who signed the certificate, it is tried once more with the certificates of the
 * operating system: nothing was sent before.
 */
export async function exchangeTrusting<T>(
  context: ExchangeContext,
  pool: Pool,
  request: HttpRequest,
  receive: Receive<T>,
): Promise<T> {
  const { trustsSystem } = pool;
  try {
    return await exchange(context, pool, request, receive);
  } catch (error) {
    // The handshake below HTTP failed.
    const code = isSituation(error, "connect.failed")
      ? (error.cause as NodeJS.ErrnoException | undefined)?.code
      : undefined;
    // Requests made at once all fail before the first of them has had the system asked: each is good for one more try.
    if (!UNKNOWN_ISSUER.has(code) || trustsSystem || !(await pool.trustSystem())) throw error;
    return await exchange(context, pool, request, receive);
  }
}

/** One HTTP request and its response. Whatever goes wrong, the first failure is passed to the one callback that waits at that moment. */
export class Exchange implements CancelListener, Rostered {
  place = -1;
  readonly server: string;
  readonly label: string;
  /** Set once something went wrong; the socket is closed then. */
  failure: unknown;
  /** Who waits at the moment. */
  onFailure: (error: unknown) => void;
  readonly #context: ExchangeContext;
  readonly #pool: Pool;
  readonly #request: ClientRequest;
  readonly #cancel: Cancellation | undefined;
  readonly #sender: HttpRequest["sender"];
  #message: IncomingMessage | undefined;
  /** Some of the request may have left this machine. */
  #connected = false;
  #over = false;

  constructor(
    context: ExchangeContext,
    pool: Pool,
    request: HttpRequest,
    onFailure: (error: unknown) => void,
    onResponse: (response: HttpResponse) => void,
  ) {
    this.server = context.server;
    this.label = request.label;
    this.onFailure = onFailure;
    this.#context = context;
    this.#pool = pool;
    const sent = pool.request(request);
    this.#request = sent;
    this.#sender = request.sender;
    if (sent.reusedSocket) this.#leaves();
    else sent.once("socket", (socket) => this.#onSocket(socket));
    sent.on("response", (message) => {
      // The request was given up a moment ago, and its socket is about to be closed: the response is ignored.
      if (this.#over) return;
      this.#message = message;
      onResponse(new HttpResponse(message, this));
    });
    sent.on("error", (error) => this.#onError(error));
    sent.on("close", () => this.#onClose());
    this.#cancel = request.cancel;
    this.#cancel?.add(this);
    context.inFlight.add(this);
    sent.end(request.body);
  }

  /** Something may have reached the server. */
  get outcomeUnknown(): boolean {
    return this.#connected;
  }

  onCancel(): void {
    // Once everything is sent, the connection may be closed a moment later: closing it would delay the news that the call is
    // cancelled.
    this.fail(
      new AdapterError("cancelled", { server: this.server }),
      this.#connected && this.#request.writableFinished,
    );
  }

  /** Ends it at once, or `soon`, its socket included; the first failure counts. */
  fail(error: unknown, soon = false): void {
    if (this.#over || this.failure !== undefined) return;
    this.failure = error;
    const close = (): void => this.#pool.giveUp(this.#request);
    if (soon) setImmediate(close);
    else close();
    this.onFailure(error);
    // Once there is a response, its reader calls `finish`.
    if (this.#message === undefined) this.finish();
  }

  /** The exchange is over. What is left of the response body is drained or closed by its reader. */
  finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.inFlight.delete(this);
    this.#cancel?.delete(this);
    // An early answer to a body that is still being sent: the rest would keep the connection busy for nothing.
    if (this.#message?.complete && !this.#request.writableFinished) this.#request.destroy();
  }

  /** The rest of the response is not needed: its connection should become free in a moment. */
  ending(): void {
    if (this.#message !== undefined) this.#pool.ending(this.#message);
  }

  /** The response broke off, or was none. */
  broken(error: Error | undefined): void {
    this.fail(this.#describe(error));
  }

  #onSocket(socket: Socket): void {
    const secure = "encrypted" in socket && socket.encrypted === true;
    // One that the system refuses at once is over by now.
    if (!secure && !socket.connecting && !socket.destroyed) this.#leaves();
    else socket.once(secure ? "secureConnect" : "connect", () => this.#leaves());
  }

  #leaves(): void {
    this.#connected = true;
    this.#sender?.mayRun?.(true);
  }

  #onError(error: Error): void {
    // The whole response is here already: what happens to the connection afterwards concerns nobody.
    if (this.#message?.complete) return;
    this.broken(error);
  }

  #onClose(): void {
    if (this.#message === undefined) this.broken(undefined);
  }

  #describe(error: Error | undefined): AdapterError {
    const { server, label: method } = this;
    const cause = error === undefined ? undefined : { cause: error };
    if (!this.#connected) {
      const via = this.#pool.proxy === undefined ? "" : ` (through the proxy ${this.#pool.proxy})`;
      const reason = `${error === undefined ? "the connection was closed" : whyUnreachable(error)}${via}`;
      const facts = { server, url: this.#context.url, reason, ...defined({ hint: hintFor(error) }) };
      return new AdapterError("connect.failed", facts, cause);
    }
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code?.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE") {
      const reason = `its response is not valid HTTP (${code})`;
      return new AdapterError("protocol.unreadable", { server, method, reason, outcomeUnknown: true }, cause);
    }
    const when = this.#message === undefined ? "before an answer came" : "in the middle of the answer";
    const reason = `the connection broke ${when}${code === undefined ? "" : ` (${code})`}`;
    return new AdapterError("closed", { server, method, reason, outcomeUnknown: true }, cause);
  }
}

/** The certificate is signed by somebody Node does not know; the operating system may. */
const UNKNOWN_ISSUER: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
const UNREACHABLE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);
const NOT_TLS = new Set(["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"]);

/** OpenSSL puts its file names and a line break around the one thing that it has to say. */
function whyUnreachable(error: Error): string {
  const [, words] = /:SSL routines:[^:]*:([^:]+):/.exec(error.message) ?? [];
  return words === undefined ? reasonOf(error) : `the TLS handshake failed: ${words}`;
}

/** What to do about a connection that could not be made. */
function hintFor(error: Error | undefined): string | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (UNREACHABLE.has(code)) return "Is it running? Check host and port.";
  return NOT_TLS.has(code) ? "That port may not speak TLS: try http:// instead of https://." : undefined;
}
