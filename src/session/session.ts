import { AdapterError, isAdapterError, reasonOf } from "../errors.ts";
import type { Deadlines } from "../deadlines.ts";
import type { Limits } from "../limits.ts";
import type { PersonWait } from "../person-wait.ts";
import type { Dialect } from "../protocol/dialect.ts";
import {
  INTERNAL_ERROR,
  isFailure,
  isRequest,
  isResponse,
  type JsonRpcErrorObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  METHOD_NOT_FOUND,
  parseMessages,
  type RequestId,
} from "../protocol/jsonrpc.ts";
import { HANDED_OVER, type Raw, type Sink, type Transport } from "../transport/transport.ts";
import type { InputPort } from "./input.ts";
import { type Answer, type GaveUp, Pending, type PendingOwner, type ProgressReport, type RequestOptions } from "./pending.ts";

/** Ids below are the opening's. */
const FIRST_ID = 10;
/** Time a notice may take over HTTP, where nobody waits for it. */
const NOTICE_MS = 5000;

export interface SessionOptions {
  readonly server: string;
  readonly transport: Transport;
  readonly dialect: Dialect;
  readonly limits: Limits;
  readonly input: InputPort;
  readonly stopOnCancel: boolean;
  readonly wait: PersonWait;
  readonly deadlines: Deadlines;
  readonly log?: (entry: { level: string; message: string }) => void;
  /** Called once when the session can no longer be used, whoever ended it. */
  readonly onClosed: (error: Error) => void;
}

/** One conversation with one server: requests matched with their answers, questions with theirs. */
export class Session implements Sink, PendingOwner {
  readonly server: string;
  readonly dialect: Dialect;
  readonly transport: Transport;
  readonly wait: PersonWait;
  readonly deadlines: Deadlines;
  readonly #options: SessionOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #lists = new Set<Pending>();
  #nextId = FIRST_ID;
  #closed: Error | undefined;
  #probe: { readonly timer: NodeJS.Timeout } | undefined;
  #openQuestions = 0;
  /** The last call was given up and none waits: a question that still comes belongs to nobody. */
  #abandoned = false;

  constructor(options: SessionOptions) {
    this.server = options.server;
    this.dialect = options.dialect;
    this.transport = options.transport;
    this.wait = options.wait;
    this.deadlines = options.deadlines;
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * Sends one request and waits for its answer.
   * @throws AdapterError `cancelled`, `timeout`, `closed`, `protocol_error`, ... (see docs/errors.md). A JSON-RPC error is an answer.
   */
  request(method: string, params: Readonly<Record<string, unknown>>, options: RequestOptions, toolSchema?: unknown): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (this.#closed !== undefined) return reject(forRequest(this.#closed, method, false));
      const id = this.#nextId++;
      const encoding = options.onProgress === undefined ? undefined : { progressToken: id };
      const message = this.dialect.encode(id, method, params, encoding);
      const headers = this.transport.kind === "http" ? this.dialect.headers(message, toolSchema) : undefined;
      const pending = new Pending(this, id, method, options, resolve, reject);
      pending.start();
      if (pending.settled) return; // Cancelled before anything was sent.
      pending.headers = headers;
      this.#pending.set(id, pending);
      if (options.effects === true) this.#abandoned = false;
      if (options.page !== undefined) this.#lists.add(pending);
      this.#send(message, pending);
    });
  }

  /** Ends the conversation; what waits is rejected. Resolves when the transport is down. */
  async close(): Promise<void> {
    this.#end(undefined);
    await this.transport.close();
  }

  // Sink

  message(raw: Raw): boolean {
    if (this.#lists.size > 0 && this.#unchangedPage(raw)) {
      if (this.#probe !== undefined) this.#provedAlive();
      return true;
    }
    const messages = parseMessages(raw.toString(), this.#options.limits.batchElements);
    if (messages === undefined) return false;
    if (this.#probe !== undefined) this.#provedAlive();
    for (const message of messages) this.#dispatch(message, raw);
    return true;
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
      // Cycles and BigInts have no JSON; only an embedding program can give them.
      this.#drop(pending);
      pending.reject(new AdapterError("params.invalid", { tool: pending.method, path: "", reason: `cannot be sent as JSON (${reasonOf(error)})` }));
      return;
    }
    if (sending === HANDED_OVER) return;
    sending.then(
      () => this.#sent(pending),
      (error: unknown) => {
        this.#drop(pending);
        pending.reject(this.#described(error, pending));
      },
    );
  }

  /** Where each request has its own exchange, that is over now: no answer can come any more. */
  #sent(pending: Pending): void {
    if (!this.transport.ownStream || pending.settled) return;
    this.#drop(pending);
    const { server } = this;
    const reason = "the response ended without an answer to this request";
    pending.reject(new AdapterError("protocol.noAnswer", { server, method: pending.method, reason, outcomeUnknown: pending.outcomeUnknown }));
  }

  /** A transport knows neither methods nor side effects; its errors are told for the request they ended. */
  #described(error: unknown, pending: Pending): unknown {
    if (!isAdapterError(error)) return error;
    return forRequest(error, pending.method, pending.outcomeUnknown);
  }

  async #notice(message: JsonRpcMessage): Promise<void> {
    const timeout = AbortSignal.timeout(NOTICE_MS);
    try {
      await this.transport.send(message, { signal: timeout });
    } catch {
      // Nobody waits for a notice. If the connection is broken, the next request finds out.
    }
  }

  // Receiving

  #unchangedPage(raw: Raw): boolean {
    for (const pending of this.#lists) {
      const result = pending.options.page?.match(raw, pending.id);
      if (result === undefined) continue;
      this.#drop(pending);
      pending.resolve({ result });
      return true;
    }
    return false;
  }

  #dispatch(message: JsonRpcMessage, raw: Raw): void {
    if (isResponse(message)) this.#settle(message, raw);
    else if (isRequest(message)) void this.#question(message);
    else this.#notification(message.method, message.params);
  }

  #settle(response: JsonRpcResponse, raw: Raw): void {
    const pending = this.#find(response.id);
    if (pending === undefined) return; // A late, second or foreign answer.
    this.#drop(pending);
    if (isFailure(response)) {
      pending.resolve({ error: response.error });
      return;
    }
    if (response.result === undefined) {
      const { server } = this;
      pending.reject(new AdapterError("protocol.result", { server, method: pending.method, reason: "it has neither a result nor an error" }));
      return;
    }
    pending.options.page?.keep(raw, pending.id, response.result);
    pending.resolve({ result: response.result });
  }

  #find(id: RequestId | null | undefined): Pending | undefined {
    if (typeof id === "number") return this.#pending.get(id);
    // Some servers answer with the id as a string; only its canonical spelling is ours.
    if (typeof id === "string" && String(Number(id)) === id) return this.#pending.get(Number(id));
    return undefined;
  }

  #notification(method: string, params: unknown): void {
    if (typeof params !== "object" || params === null) return;
    const facts = params as Readonly<Record<string, unknown>>;
    if (method === "notifications/progress") {
      const report = progressReport(facts);
      if (report !== undefined) this.#find(facts["progressToken"] as RequestId)?.progress(report);
    } else if (method === "notifications/message" && this.#options.log !== undefined) {
      const { level, data, logger } = facts;
      const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
      this.#options.log({ level: typeof level === "string" ? level : "info", message: typeof logger === "string" ? `${logger}: ${text}` : text });
    }
    // Everything else tells of changes that the next discovery sees anyway, or is not ours to understand.
  }

  async #question(request: JsonRpcRequest): Promise<void> {
    // In a revision where servers do not ask, an answer would be a violation of ours.
    if (!this.dialect.serverMayAsk(request.method) && !this.dialect.serverMayAsk("ping")) return;
    const answer = await this.#answer(request);
    if (this.#closed === undefined) await this.#notice({ jsonrpc: "2.0", id: request.id, ...answer });
  }

  async #answer(request: JsonRpcRequest): Promise<{ result: unknown } | { error: JsonRpcErrorObject }> {
    const { method, params } = request;
    if (method === "ping") return { result: {} };
    const { input, limits } = this.#options;
    if (!this.dialect.serverMayAsk(method) || !input.offers(method))
      return { error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method.slice(0, limits.nameCharacters)}` } };
    if (this.#abandoned && method === "elicitation/create") return { result: { action: "cancel" } };
    if (this.#abandoned && method === "sampling/createMessage") return { error: { code: INTERNAL_ERROR, message: "The call was cancelled" } };
    if (this.#openQuestions >= limits.openQuestions) return { error: { code: METHOD_NOT_FOUND, message: "Too many open questions" } };
    this.#openQuestions++;
    try {
      return await input.ask(method, params ?? {}, this.#questionMs());
    } finally {
      this.#openQuestions--;
    }
  }

  /** A question must be settled early enough for the server to go on with the call it belongs to. */
  #questionMs(): number {
    let longest = 0;
    for (const pending of this.#pending.values()) if (Number.isFinite(pending.remainingMs)) longest = Math.max(longest, pending.remainingMs);
    return longest === 0 ? this.#options.limits.defaultTimeoutSeconds * 1000 : longest * 0.8;
  }

  // Giving up

  giveUp(pending: Pending, why: GaveUp): void {
    if (why === "timeout" && pending.putOff(this.wait)) return;
    const onTheWire = this.#drop(pending);
    const facts = { server: this.server, method: pending.method, outcomeUnknown: pending.outcomeUnknown && onTheWire };
    const seconds = pending.waitedSeconds;
    pending.reject(
      why === "cancelled"
        ? new AdapterError("cancelled", { server: this.server })
        : new AdapterError("timeout", { ...facts, phase: pending.outcomeUnknown ? "call" : "discovery", seconds, ...this.transport.diagnostics() }),
    );
    if (!onTheWire) return;
    pending.abort();
    this.#abandon(pending);
    if (this.#closed !== undefined) return;
    const notice = this.dialect.cancelNotice(pending.id, why === "timeout" ? "timed out" : "cancelled", this.transport.ownStream);
    if (notice !== undefined) void this.#notice(notice);
    if (!this.transport.ownStream) this.#mustProveAlive();
  }

  /** With the last call, the questions that came for it are withdrawn. */
  #abandon({ outcomeUnknown: isCall }: Pending): void {
    for (const other of this.#pending.values()) if (other.outcomeUnknown) return;
    if (!isCall) return;
    this.#abandoned = true;
    this.#options.input.withdraw();
  }

  /** A server that shares one channel for everything is stopped if it does not answer after a request was given up. */
  #mustProveAlive(): void {
    if (this.#options.stopOnCancel) return this.#stopped();
    if (this.#probe !== undefined) return;
    const timer = setTimeout(() => this.#stopped(), this.#options.limits.aliveMs);
    timer.unref();
    this.#probe = { timer };
    const id = this.#nextId++;
    void this.#notice(this.dialect.encode(id, this.dialect.aliveMethod, {}));
  }

  #provedAlive(): void {
    clearTimeout(this.#probe?.timer);
    this.#probe = undefined;
  }

  #stopped(): void {
    this.#end(new AdapterError("closed.stopped", { server: this.server, outcomeUnknown: true }));
    void this.transport.close();
  }

  // Ending

  #drop(pending: Pending): boolean {
    if (pending.options.page !== undefined) this.#lists.delete(pending);
    return this.#pending.delete(pending.id);
  }

  #end(error: Error | undefined): void {
    if (this.#closed !== undefined) return;
    this.#closed = error ?? new AdapterError("closed.stopped", { server: this.server, outcomeUnknown: true });
    if (this.#probe !== undefined) this.#provedAlive();
    this.#options.input.withdraw();
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    this.#lists.clear();
    for (const pending of waiting) {
      pending.reject(forRequest(this.#closed, pending.method, pending.outcomeUnknown));
      pending.abort();
    }
    this.#options.onClosed(this.#closed);
  }
}

/** The same failure, told for one request: which method it ended, and whether its outcome is unknown. */
function forRequest(error: Error, method: string, effects: boolean): Error {
  if (!isAdapterError(error)) return error;
  const details: Record<string, unknown> = error.details;
  const facts: Record<string, unknown> = { ...details };
  if ("outcomeUnknown" in details) facts["outcomeUnknown"] = details["outcomeUnknown"] === true && effects;
  if (error.situation === "closed" || typeof details["method"] === "string") facts["method"] = method;
  return new AdapterError(error.situation, facts as never, { cause: error.cause ?? error });
}

function progressReport(params: Readonly<Record<string, unknown>>): ProgressReport | undefined {
  const { progress, total, message } = params;
  if (typeof progress !== "number") return undefined;
  return {
    progress,
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}

