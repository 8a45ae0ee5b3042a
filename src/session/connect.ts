import { alarm } from "../alarm.ts";
import { Cancellation } from "../cancellation.ts";
import { clock } from "../clock.ts";
import { cut } from "../cut.ts";
import { AdapterError, isSituation } from "../errors.ts";
import type { ClientIdentity, Dialect } from "../protocol/dialect.ts";
import {
  isFailure,
  isRequest,
  isResponse,
  type JsonRpcMessage,
  type JsonRpcRequest,
  parseMessages,
} from "../protocol/jsonrpc.ts";
import { negotiate, type OpeningFailure, type OpeningStep, type Probe } from "../protocol/opening.ts";
import { REVISIONS } from "../protocol/versions.ts";
import type { Raw, Rejection, SendOptions, Sink, Transport } from "../transport/transport.ts";
import { Gate } from "./gate.ts";
import { sendNotice } from "./notice.ts";
import { beforeCalls, forRequest } from "./request-error.ts";
import { boundedError } from "./rpc-error.ts";
import { Session, type SessionOptions } from "./session.ts";

const VERSION_CHARACTERS = 200;
/** Messages of the server that may wait until the conversation has begun. */
const EARLY_MESSAGES = 256;

export interface ConnectOptions extends Omit<SessionOptions, "transport" | "dialect"> {
  readonly client: ClientIdentity;
  /** `auto`, or the one revision that is accepted. */
  readonly pin: string;
  /** The revision this server spoke last time. */
  readonly hint?: string | undefined;
  readonly create: () => Transport;
  /** The refusal that a transport's error stands for, if it stands for one. */
  readonly rejectionOf: (error: unknown) => Rejection | undefined;
  readonly cancellation: Cancellation;
  /** Told of every transport as it is made, so that its diagnostics and its end can be waited for. */
  readonly onTransport: (transport: Transport) => void;
}

/**
 * Opens a connection: makes a transport, finds out how the server speaks, and hands back the conversation.
 * After a failure every transport it made is being closed.
 * @throws AdapterError `spawn_failed`, `connect_failed`, `unsupported_protocol`, `http_error`, `auth_required`, `cancelled`, ...
 */
export async function connect(options: ConnectOptions): Promise<Session> {
  const line = new Line(options);
  const release = options.cancellation.onCancel(() => line.abandon());
  try {
    const dialect = await open(line, options);
    return line.become((transport) => new Session({ ...options, transport, dialect }));
  } catch (error) {
    line.abandon();
    throw options.cancellation.cancelled
      ? new AdapterError("cancelled", { server: options.server })
      : beforeCalls(error);
  } finally {
    release();
  }
}

async function open(line: Line, options: ConnectOptions): Promise<Dialect> {
  const opening = negotiate(options.client, options.pin, options.hint);
  await line.fresh();
  let next = opening.next();
  while (next.done !== true) next = opening.next(await line.exchange(next.value));
  if ("dialect" in next.value) {
    line.transport.adopt(next.value.dialect.wire);
    return next.value.dialect;
  }
  throw openingError(next.value.failure, line, options);
}

function openingError(failure: OpeningFailure, line: Line, { server, pin }: ConnectOptions): unknown {
  if (failure.kind === "version") {
    const { offered, answered } = failure;
    return new AdapterError("version.unsupported", {
      server,
      offered,
      answered: answered === null ? null : cut(answered, VERSION_CHARACTERS),
      supported: pin === "auto" ? REVISIONS : [pin],
    });
  }
  if (failure.kind === "refused") {
    const rpcError = boundedError(failure.rpcError);
    return new AdapterError("connect.refused", {
      server,
      reason: `error ${rpcError.code}: ${rpcError.message}`,
      rpcError,
      ...(pin === "auto" ? {} : { pinned: pin }),
    });
  }
  return line.errorOf(failure.probe) ?? new AdapterError("connect.exited", { server, ...line.transport.diagnostics() });
}

/** The connection during the handshake: one message at a time. What else the server sends is buffered for the session that takes over. */
class Line implements Sink {
  readonly #options: ConnectOptions;
  readonly #errors = new Map<Probe, unknown>();
  #transport: Transport | undefined;
  #target: Sink | undefined;
  #early: string[] = [];
  #earlyBytes = 0;
  #waiting: { readonly id: unknown; readonly step: OpeningStep; readonly resolve: (probe: Probe) => void } | undefined;
  #closed: Error | undefined;
  #generation = 0;
  readonly #pongs: Gate;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#pongs = Gate.forAnswers(options.limits);
  }

  get transport(): Transport {
    if (this.#transport === undefined) throw new AdapterError("internal", { reason: "no transport" });
    return this.#transport;
  }

  /** The error behind a probe that reported a failure. */
  errorOf(probe: Probe): unknown {
    return this.#errors.get(probe);
  }

  /** Replaces the transport by a new one, and opens it. */
  async fresh(): Promise<void> {
    if (this.#options.cancellation.cancelled) throw new AdapterError("cancelled", { server: this.#options.server });
    void this.#transport?.close();
    this.#closed = undefined;
    this.#early = [];
    this.#earlyBytes = 0;
    const generation = ++this.#generation;
    this.#transport = this.#options.create();
    this.#options.onTransport(this.#transport);
    // The transport that was replaced may still report its end, which must not count for the new one.
    const sink: Sink = {
      message: (raw, to) => generation !== this.#generation || this.message(raw, to),
      closed: (error) => {
        if (generation === this.#generation) this.closed(error);
      },
    };
    // A cancellation meanwhile sets `#closed`, so that the next exchange fails.
    await this.#transport.open(sink, this.#options.cancellation.signal);
  }

  async exchange(step: OpeningStep): Promise<Probe> {
    if (step.fresh === true) await this.fresh();
    if (step.adopt !== undefined) this.transport.adopt(step.adopt);
    if (this.#closed !== undefined) return this.#failed(this.#closed, step);
    if (!("id" in step.message)) return this.#notify(step);
    return this.#ask(step, step.message.id);
  }

  /** Hands the connection over to the session, with the buffered messages. */
  become(make: (transport: Transport) => Session): Session {
    const session = make(this.transport);
    this.#target = session;
    if (this.#closed !== undefined) session.closed(this.#closed);
    const early = this.#early;
    this.#early = [];
    for (const raw of early) session.message(raw);
    return session;
  }

  abandon(): void {
    this.#closed ??= new AdapterError("cancelled", { server: this.#options.server });
    this.#waiting?.resolve({ kind: "closed" });
    this.#waiting = undefined;
    void this.#transport?.close();
  }

  message(raw: Raw, to?: SendOptions): boolean {
    if (this.#target !== undefined) return this.#target.message(raw, to);
    const messages = parseMessages(raw.toString(), this.#options.limits);
    if (messages === undefined) return false;
    const answer = messages.find((message) => this.#isAnswer(message));
    if (answer !== undefined) this.#waiting?.resolve({ kind: "reply", message: answer });
    this.#keepEarly(
      messages.filter((message) => message !== answer),
      raw,
    );
    // A response to no request of ours counts as a skipped line, which a timeout quotes: some servers answer under an id of their own.
    return answer !== undefined || this.transport.kind !== "stdio" || !messages.every(isResponse);
  }

  closed(error: Error): void {
    if (this.#target !== undefined) {
      this.#target.closed(error);
      return;
    }
    this.#closed = error;
    this.#waiting?.resolve(this.#failed(error, this.#waiting.step));
  }

  #isAnswer(message: JsonRpcMessage): boolean {
    const id = this.#waiting?.id;
    if (id === undefined || !isResponse(message)) return false;
    // An error about a request whose id could not be read: there is only this one, and nothing else on a stream of its own.
    if (isFailure(message) && (this.transport.ownStream || (message.id ?? "") === "")) return true;
    return message.id === id || message.id === String(id);
  }

  /** Buffers messages for the session, except pings: a server may wait for their answer before it finishes the handshake. */
  #keepEarly(messages: readonly JsonRpcMessage[], raw: Raw): void {
    const kept: JsonRpcMessage[] = [];
    for (const message of messages) {
      if (!isRequest(message) || message.method !== "ping") kept.push(message);
      else this.#pong(message, raw.length / messages.length);
    }
    if (kept.length === 0 || this.#early.length >= EARLY_MESSAGES) return;
    if (this.#earlyBytes > 0 && this.#earlyBytes + raw.length > this.#options.limits.questionBytes) return;
    this.#earlyBytes += raw.length;
    this.#early.push(kept.length === messages.length ? raw.toString() : JSON.stringify(kept));
  }

  #pong({ id }: JsonRpcRequest, bytes: number): void {
    const { transport } = this;
    const { deadlines, limits } = this.#options;
    const isOfUse = (): boolean => this.#target === undefined && this.#closed === undefined;
    const options = { transport, deadlines, milliseconds: limits.noticeMs, isOfUse, since: clock.now() };
    this.#pongs.admit(() => sendNotice({ jsonrpc: "2.0", id, result: {} }, options), bytes);
  }

  #ask(step: OpeningStep, id: unknown): Promise<Probe> {
    const exchange = new Cancellation();
    const release = this.#options.cancellation.onCancel(() => exchange.cancel());
    let callOff = (): void => undefined;
    return new Promise<Probe>((resolve) => {
      let settled = false;
      const settle = (probe: Probe): void => {
        settled = true;
        resolve(probe);
      };
      this.#waiting = { id, step, resolve: settle };
      const giveUp = (): void => {
        settle({ kind: "silent" });
        // Its own exchange may never end by itself. In a shared pipe a line that is half written cannot be taken back.
        if (this.transport.kind !== "stdio") exchange.cancel();
      };
      if (step.isGuess) callOff = alarm(this.#options.limits.guessMs, giveUp);
      this.#send(step, () => settled, { cancellation: exchange }).then(
        () => {
          if (this.transport.ownStream && !settled) settle(this.#failed(this.#noAnswer(step), step));
        },
        (error: unknown) => settle(this.#failed(error, step)),
      );
    }).finally(() => {
      callOff();
      release();
      this.#waiting = undefined;
    });
  }

  async #notify(step: OpeningStep): Promise<Probe> {
    try {
      await this.#send(step, () => true).catch((error: unknown) => {
        // The server may have closed the connection after its answer, which this message is the first to meet.
        if (!this.transport.ownStream || !isSituation(error, "closed")) throw error;
        return this.#send(step, () => true, { fresh: true });
      });
    } catch (error) {
      // A refused notice is not the end: whether the server can be used shows with the first request.
      if (this.#options.rejectionOf(error) === undefined) return this.#failed(error, step);
    }
    return { kind: "sent" };
  }

  #send({ message, headers }: OpeningStep, answered: () => boolean, options: SendOptions = {}): Promise<void> {
    const { cancellation } = this.#options;
    const more = headers === undefined ? options : { ...options, headers };
    return this.transport.send(message, { cancellation, answered, ...more });
  }

  #failed(error: unknown, step: OpeningStep): Probe {
    const rejection = this.#options.rejectionOf(error);
    const probe: Probe = rejection === undefined ? { kind: "closed" } : { kind: "rejected", ...rejection };
    this.#errors.set(probe, this.#asConnectError(error, step));
    return probe;
  }

  /** A connection that broke before the handshake was done is reported as a failure to connect: no tool can have run. */
  #asConnectError(error: unknown, step: OpeningStep): unknown {
    if (!isSituation(error, "closed")) return forRequest(error, methodOf(step), false);
    const { server } = this.#options;
    const diagnostics = this.transport.diagnostics();
    if ("exitCode" in diagnostics) return new AdapterError("connect.exited", { server, ...diagnostics });
    return new AdapterError("connect.failed", { server, reason: error.details.reason, ...diagnostics });
  }

  #noAnswer(step: OpeningStep): AdapterError {
    const { server } = this.#options;
    return new AdapterError("protocol.noAnswer", { server, method: methodOf(step), outcomeUnknown: false });
  }
}

function methodOf({ message }: OpeningStep): string {
  return "method" in message ? message.method : "";
}
