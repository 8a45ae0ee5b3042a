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
  /** Silence that ends the request; absent where somebody else keeps the time. */
  readonly timeoutMs?: number;
  /** Time in all, progress or not. */
  readonly totalMs?: number;
  readonly cancellation?: Cancellation;
  readonly onProgress?: (report: ProgressReport) => void;
  /** The request may have side effects: a failure after it was sent leaves its outcome unknown. */
  readonly effects?: boolean;
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

/** Who made a pending request, and what it needs of them. */
export interface PendingOwner {
  readonly deadlines: Deadlines;
  /** Milliseconds that the exchange of a settled request may still take. */
  readonly graceMs: number;
  /** The request is over without an answer; called at most once for a request that is not settled. */
  giveUp(pending: Pending, why: GaveUp): void;
}

/** One request on the wire: who waits for it, and until when. Is itself the transport's `SendOptions`. */
export class Pending implements SendOptions, Deadline, CancelListener {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  headers: Readonly<Record<string, string>> | undefined;
  settled = false;
  /** It has an exchange of its own, which is not over. */
  exchanging = false;
  /** The status of the refusal whose body is the answer. */
  status: number | undefined;
  /** An error that came on its own stream under an unknown id: quoted as the server's words if no answer follows. */
  aside = "";
  dueAt = Number.POSITIVE_INFINITY;
  place = -1;
  readonly #owner: PendingOwner;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  #startedAt = 0;
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
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** The clock begins to run, and a cancellation counts. */
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

  get once(): boolean {
    return this.options.effects === true;
  }

  get mayAsk(): boolean {
    return this.options.effects === true;
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

  get outcomeUnknown(): boolean {
    return this.options.effects === true;
  }

  /** Milliseconds until silence ends it. */
  get remainingMs(): number {
    return Math.max(0, this.dueAt - clock.now());
  }

  /** The seconds that were waited for, for a sentence: of silence, or in all. */
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

  /** Its deadline has come while, or soon after, a person was awaited: it is put off. Whether it was. */
  putOff(wait: PersonWait): boolean {
    const more = wait.putOff(this.options.timeoutMs ?? 0);
    if (more > 0) this.#owner.deadlines.set(this, more);
    return more > 0;
  }

  onDue(): void {
    // Answered another way, its own exchange may never end by itself.
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

/** A copy where it is cut: a slice would keep the whole message alive for as long as the host does not look. */
function bounded(message: string): string {
  if (message.length <= PROGRESS_CHARACTERS) return message.toWellFormed();
  return Buffer.from(cut(message, PROGRESS_CHARACTERS)).toString();
}
