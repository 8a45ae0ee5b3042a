import { type CancelListener, Cancellation } from "../cancellation.ts";
import { clock } from "../clock.ts";
import { cut } from "../cut.ts";
import type { Deadline, Deadlines } from "../deadlines.ts";
import type { PersonWait } from "../person-wait.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";
import type { SendOptions } from "../transport/transport.ts";
import type { RememberedPage } from "./remembered.ts";

export interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface RequestOptions {
  /** Ends the request after this time without an answer or progress; absent where the caller has a timeout of its own. */
  readonly timeoutMs?: number;
  /** Ends the request after this time whatever its progress. */
  readonly totalMs?: number;
  readonly cancellation?: Cancellation;
  readonly onProgress?: (report: ProgressReport) => void;
  /** The request may have side effects: a failure after it was sent leaves its outcome unknown. */
  readonly effects?: boolean;
  /** As in the transport's `SendOptions`. */
  readonly mayRun?: (may: boolean) => void;
  /** It goes on with an earlier request, which may have had effects already. */
  readonly isContinuation?: boolean;
  /** Where the answer is recognised if it is that of last time. */
  readonly page?: RememberedPage;
  /** As in the transport's `SendOptions`. */
  readonly fresh?: boolean;
}

/** What ended a request besides an answer. */
export type GaveUp = "cancelled" | "timeout";

export type Answer =
  | { readonly result: unknown }
  | {
      readonly error: JsonRpcErrorObject;
      /** Of the HTTP refusal that it came with. */
      readonly status?: number | undefined;
    };

/** What a pending request needs of its session. */
export interface PendingOwner {
  readonly deadlines: Deadlines;
  /** Milliseconds that the exchange of a settled request may still take. */
  readonly graceMs: number;
  /** The request is over without an answer; called at most once for a request that is not settled. */
  giveUp(pending: Pending, why: GaveUp): void;
}

/**
 * One request in flight, with its deadline and its promise. It is also its `SendOptions`, deadline and cancel listener, so that a request
 * takes one allocation.
 */
export class Pending implements SendOptions, Deadline, CancelListener {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  headers: Readonly<Record<string, string>> | undefined;
  settled = false;
  /** Its own HTTP exchange is not over yet. */
  exchanging = false;
  /** The status of the refusal whose body is the answer. */
  status: number | undefined;
  /** The message of an error response with an unknown id on its own stream: quoted if no answer follows. */
  aside = "";
  dueAt = Number.POSITIVE_INFINITY;
  place = -1;
  readonly #owner: PendingOwner;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  #startedAt = 0;
  #mayRun: boolean;
  #wire: Cancellation | undefined;

  constructor(
    owner: PendingOwner,
    id: number,
    method: string,
    options: RequestOptions,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#owner = owner;
    this.id = id;
    this.method = method;
    this.options = options;
    this.#mayRun = options.isContinuation === true;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Starts the deadline, and listens for the cancellation. */
  start(): void {
    if (this.options.timeoutMs !== undefined) {
      this.#startedAt = clock.now();
      this.#arm();
    }
    this.options.cancellation?.add(this);
  }

  get fresh(): boolean {
    return this.options.fresh === true;
  }

  get hasEffects(): boolean {
    return this.options.effects === true;
  }

  get once(): boolean {
    return this.hasEffects;
  }

  get mayAsk(): boolean {
    return this.hasEffects;
  }

  /** Made only where a transport asks for it. */
  get cancellation(): Cancellation {
    this.#wire ??= new Cancellation();
    return this.#wire;
  }

  answered(): boolean {
    return this.settled;
  }

  refusedWith(status: number): void {
    this.status = status;
  }

  mayRun(may: boolean): void {
    this.#mayRun = may || this.options.isContinuation === true;
    this.options.mayRun?.(this.#mayRun);
  }

  /** If it ended now without an answer, its effects might have happened. */
  get outcomeUnknown(): boolean {
    return this.#mayRun && this.hasEffects;
  }

  /** Milliseconds until silence ends it. */
  get remainingMs(): number {
    return Math.max(0, this.dueAt - clock.now());
  }

  /** The timeout that ended it, in seconds, for the error message: that of silence, or the total. */
  get waitedSeconds(): number {
    const { timeoutMs = 0, totalMs } = this.options;
    const capped = totalMs !== undefined && clock.now() - this.#startedAt >= totalMs - 1;
    return Math.round((capped ? totalMs : timeoutMs) / 100) / 10;
  }

  /** Progress with our token starts the deadline anew, up to the total. */
  progress(report: ProgressReport): void {
    if (this.settled) return;
    this.#arm();
    this.options.onProgress?.(report);
  }

  /** Extends the deadline if a sign-in is, or was recently, in progress. Returns whether it did. */
  putOff(wait: PersonWait): boolean {
    const more = wait.putOff(this.options.timeoutMs ?? 0);
    if (more > 0) this.#owner.deadlines.set(this, more);
    return more > 0;
  }

  onDue(): void {
    // It was answered on another stream, and its own exchange may never end by itself.
    if (this.settled) this.abort();
    else this.#owner.giveUp(this, "timeout");
  }

  onCancel(): void {
    if (!this.settled) this.#owner.giveUp(this, "cancelled");
  }

  resolve(answer: Answer): void {
    if (this.#end()) this.#resolve(answer);
  }

  reject(error: unknown): void {
    if (this.#end()) this.#reject(error);
  }

  /** Its exchange is over. */
  exchanged(): void {
    this.exchanging = false;
    if (this.settled) this.#owner.deadlines.clear(this);
  }

  /** Closes its own exchange, or what is not yet written of it; a transport that asks only later finds it cancelled. */
  abort(): void {
    this.cancellation.cancel();
  }

  #arm(): void {
    const { timeoutMs, totalMs } = this.options;
    if (timeoutMs === undefined) return;
    const left = totalMs === undefined ? timeoutMs : Math.min(timeoutMs, this.#startedAt + totalMs - clock.now());
    this.#owner.deadlines.set(this, left);
  }

  #end(): boolean {
    if (this.settled) return false;
    this.settled = true;
    const { deadlines, graceMs } = this.#owner;
    if (this.exchanging) deadlines.set(this, graceMs);
    else if (this.options.timeoutMs !== undefined) deadlines.clear(this);
    this.options.cancellation?.delete(this);
    return true;
  }
}

const PROGRESS_CHARACTERS = 1000;

/** What a progress notification reports; `undefined` where it names no progress. */
export function progressReport(params: Readonly<Record<string, unknown>>): ProgressReport | undefined {
  const { progress, total, message } = params;
  if (typeof progress !== "number") return undefined;
  return {
    progress,
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message: bounded(message) } : {}),
  };
}

/** Truncated texts are copied: a slice would keep the whole message in memory until the host polls. */
function bounded(message: string): string {
  if (message.length <= PROGRESS_CHARACTERS) return message.toWellFormed();
  return Buffer.from(cut(message, PROGRESS_CHARACTERS)).toString();
}
