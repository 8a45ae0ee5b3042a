import { clock } from "../clock.ts";
import type { Deadlines } from "../deadlines.ts";
import { AdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { PersonWait } from "../person-wait.ts";
import type { Dialect } from "../protocol/dialect.ts";
import {
  isFailure,
  isObject,
  isRequest,
  isResponse,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  parseMessages,
} from "../protocol/jsonrpc.ts";
import { quoteText } from "../remote-text.ts";
import { soon } from "../soon.ts";
import { HANDED_OVER, type Raw, type SendOptions, type Sink, type Transport } from "../transport/transport.ts";
import { AliveProbe } from "./alive.ts";
import { Gate } from "./gate.ts";
import type { InputPort } from "./input.ts";
import { type LogEntry, logEntry } from "./log-entry.ts";
import { sendNotice } from "./notice.ts";
import {
  type Answer,
  type GaveUp,
  Pending,
  type PendingOwner,
  progressReport,
  type RequestOptions,
} from "./pending.ts";
import { PendingTable } from "./pending-table.ts";
import { QUESTION_SHARE, Questions } from "./questions.ts";
import { endsSession, forRequest, gaveUp, losesSession, tellingOfSession } from "./request-error.ts";

/** Ids below are the opening's. */
const FIRST_ID = 10;

export interface SessionOptions {
  readonly server: string;
  readonly transport: Transport;
  readonly dialect: Dialect;
  readonly limits: Limits;
  readonly input: InputPort;
  readonly stopOnCancel: boolean;
  readonly wait: PersonWait;
  readonly deadlines: Deadlines;
  readonly log?: (entry: LogEntry) => void;
  /** Called once when the session can no longer be used, whoever ended it. */
  readonly onClosed: () => void;
  /** Called whenever the server refuses a request, as it seems, because it does not know the session any more. */
  readonly onExpired: () => void;
}

/** One conversation with one server: requests matched with their answers, questions with theirs. */
export class Session implements Sink, PendingOwner {
  readonly server: string;
  readonly dialect: Dialect;
  readonly transport: Transport;
  readonly wait: PersonWait;
  readonly deadlines: Deadlines;
  readonly #options: SessionOptions;
  readonly #pending = new PendingTable(FIRST_ID);
  readonly #alive: AliveProbe;
  readonly #questions: Questions;
  readonly #answers: Gate;
  #closed: Error | undefined;

  constructor(options: SessionOptions) {
    this.server = options.server;
    this.dialect = options.dialect;
    this.transport = options.transport;
    this.wait = options.wait;
    this.deadlines = options.deadlines;
    this.#options = options;
    this.#questions = new Questions(options);
    this.#answers = Gate.forAnswers(options.limits);
    this.#alive = new AliveProbe(options.deadlines, options.limits.aliveMs, () => this.#stop());
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  get graceMs(): number {
    return this.#options.limits.noticeMs;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * Sends one request and waits for its answer.
   * @throws AdapterError `cancelled`, `timeout`, `closed`, `protocol_error`, ... (see docs/errors.md). A JSON-RPC error is an answer.
   */
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
    toolSchema?: unknown,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (this.#closed !== undefined) return reject(forRequest(this.#closed, method, false));
      const id = this.#pending.newId();
      const encoding = options.onProgress === undefined ? undefined : { progressToken: id };
      const message = this.dialect.encode(id, method, params, encoding);
      const headers = this.transport.kind === "http" ? this.dialect.headers(message, toolSchema) : undefined;
      const pending = new Pending(this, id, method, options, resolve, reject);
      pending.start();
      if (pending.settled) return; // Cancelled before anything was sent.
      pending.headers = headers;
      this.#pending.add(pending);
      if (options.effects === true) this.#questions.callSent();
      this.#send(message, pending);
    });
  }

  /** Ends the conversation; what waits is rejected. Resolves when the transport is down. */
  async close(): Promise<void> {
    this.#end(undefined);
    await this.transport.close();
  }

  // Sink

  message(raw: Raw, to?: SendOptions): boolean {
    if (this.#pending.settleUnchanged(raw)) {
      if (this.#alive.isOpen) this.#alive.end();
      return true;
    }
    const messages = parseMessages(raw.toString(), this.#options.limits);
    if (messages === undefined) return false;
    if (this.#alive.isOpen) this.#alive.end();
    const bytes = raw.length / messages.length;
    for (const message of messages) this.#dispatch(message, raw, bytes, to);
    // Told with the timeout of whatever it is about.
    return this.transport.kind !== "stdio" || !messages.every((message) => this.#pending.isNobodys(message));
  }

  closed(error: Error): void {
    this.#end(error);
  }

  // Sending

  #send(message: JsonRpcMessage, pending: Pending): void {
    let sending: Promise<void>;
    try {
      sending = this.transport.send(message, pending);
    } catch (error) {
      this.#pending.delete(pending);
      pending.reject(forRequest(error, pending.method, false));
      return;
    }
    if (sending === HANDED_OVER) return;
    pending.exchanging = this.transport.kind !== "stdio";
    sending.then(
      () => this.#sent(pending),
      (error: unknown) => {
        pending.exchanged();
        this.#pending.delete(pending);
        const ends = this.dialect.wire.sessions && endsSession(error, pending);
        if (ends) this.#options.onExpired();
        pending.reject(forRequest(ends ? tellingOfSession(error) : error, pending.method, pending.outcomeUnknown));
      },
    );
  }

  /** Where each request has its own exchange, that is over now: no answer can come any more. */
  #sent(pending: Pending): void {
    pending.exchanged();
    if (!this.transport.ownStream || pending.settled) return;
    this.#pending.delete(pending);
    this.#unanswered(pending, pending.aside);
  }

  #unanswered(pending: Pending, words: string): void {
    const { method, outcomeUnknown } = pending;
    const sent = words === "" ? {} : { body: quoteText(words, this.#options.limits.quotedCharacters) };
    pending.reject(new AdapterError("protocol.noAnswer", { server: this.server, method, outcomeUnknown, ...sent }));
  }

  #notice(message: JsonRpcMessage, isOfUse?: () => boolean): Promise<void> {
    const { transport, deadlines } = this;
    const milliseconds = this.#options.limits.noticeMs;
    return sendNotice(message, { transport, deadlines, milliseconds, ...(isOfUse === undefined ? {} : { isOfUse }) });
  }

  // Receiving

  /** `bytes`: its part of what came. */
  #dispatch(message: JsonRpcMessage, raw: Raw, bytes: number, to: SendOptions | undefined): void {
    if (isResponse(message)) this.#settle(message, raw, to);
    else if (isRequest(message)) this.#question(message, bytes, to);
    else this.#notification(message.method, message.params);
  }

  #settle(response: JsonRpcResponse, raw: Raw, to: SendOptions | undefined): void {
    // An error for no request in particular: on a request's own stream it can be about that one only (Basic, Responses).
    const unread = response.id === null && to instanceof Pending ? to : undefined;
    const pending = unread ?? this.#pending.find(response.id);
    if (pending === undefined && to instanceof Pending && isFailure(response)) to.aside = response.error.message;
    if (pending === undefined || pending.settled) return; // A late, second or foreign answer.
    this.#pending.delete(pending);
    if (isFailure(response)) {
      const isRefusal = unread !== undefined || pending.status !== undefined;
      if (isRefusal && this.dialect.wire.sessions && losesSession(pending, response.error.message))
        this.#options.onExpired();
      // It may be about the session, and a list is worth another attempt: as after every exchange without an answer.
      if (unread?.hasEffects === false) this.#unanswered(pending, response.error.message);
      else pending.resolve({ error: response.error, status: pending.status });
      return;
    }
    if (response.result === undefined) {
      const { method, outcomeUnknown } = pending;
      const facts = { server: this.server, method, outcomeUnknown, reason: "it has neither a result nor an error" };
      pending.reject(new AdapterError("protocol.result", facts));
      return;
    }
    pending.options.page?.keep(raw, pending.id, response.result);
    pending.resolve({ result: response.result });
  }

  #notification(method: string, params: unknown): void {
    if (!isObject(params)) return;
    if (method === "notifications/progress") {
      const report = progressReport(params);
      if (report !== undefined) this.#pending.find(params["progressToken"])?.progress(report);
    } else if (method === "notifications/message") this.#options.log?.(logEntry(params));
    else if (method === "notifications/cancelled") this.#questions.takeBack(params["requestId"]);
    // Everything else tells of changes that the next discovery sees anyway, or is not ours to understand.
  }

  #question(request: JsonRpcRequest, bytes: number, to: SendOptions | undefined): void {
    const askedAt = clock.now();
    this.#answers.admit(async () => {
      // It had to wait for its turn, and longer than anybody waits for the answer.
      if (this.#pending.size === 0 && clock.now() - askedAt > this.#options.limits.noticeMs) return;
      const answer = await this.#questions.answer(request, this.#questionMs(to), to?.cancellation);
      if (answer === undefined || this.#closed !== undefined) return;
      // It may be of use to any request that waits, each of which has a deadline.
      await this.#notice({ jsonrpc: "2.0", id: request.id, ...answer }, () => this.#pending.size > 0);
    }, bytes);
  }

  /** Early enough for the server to go on with the call it belongs to: the one on whose own stream it came, else any. */
  #questionMs(to: SendOptions | undefined): number {
    const own = to instanceof Pending && !to.settled ? to.remainingMs : Number.POSITIVE_INFINITY;
    const left = Number.isFinite(own) ? own : this.#pending.longestMs;
    return left === 0 ? this.#options.limits.defaultTimeoutSeconds * 1000 : left * QUESTION_SHARE;
  }

  // Giving up

  giveUp(pending: Pending, why: GaveUp): void {
    if (why === "timeout" && pending.putOff(this.wait)) return;
    const onTheWire = this.#pending.delete(pending);
    pending.reject(gaveUp(this.server, pending, why, onTheWire, this.transport.diagnostics()));
    if (!onTheWire) return;
    pending.abort();
    // With the last call, the questions that came for it are withdrawn.
    if (pending.hasEffects && this.#pending.calls === 0) this.#questions.abandon();
    if (this.#closed !== undefined) return;
    const reason = why === "timeout" ? "timed out" : "cancelled";
    const notice = this.dialect.cancelNotice(pending.id, reason, this.transport.ownStream);
    if (notice !== undefined) void this.#notice(notice);
    if (!this.transport.ownStream) this.#mustProveAlive();
  }

  /** A server that shares one channel for everything is stopped if it does not answer after a request was given up. */
  #mustProveAlive(): void {
    // The notice of it is still to be written.
    if (this.#options.stopOnCancel) return void soon(() => this.#stop());
    if (this.#alive.isOpen || this.#closed !== undefined) return;
    this.#alive.begin();
    const id = this.#pending.newId();
    void this.#notice(this.dialect.encode(id, this.dialect.aliveMethod, {}));
  }

  #stop(): void {
    this.#end(new AdapterError("closed.stopped", { server: this.server, outcomeUnknown: true }));
    void this.transport.close();
  }

  // Ending

  #end(error: Error | undefined): void {
    if (this.#closed !== undefined) return;
    this.#closed = error ?? new AdapterError("closed.stopped", { server: this.server, outcomeUnknown: true });
    this.#alive.end();
    this.#questions.end();
    for (const pending of this.#pending.takeAll()) {
      pending.reject(forRequest(this.#closed, pending.method, pending.outcomeUnknown));
      pending.abort();
    }
    this.#options.onClosed();
  }
}
