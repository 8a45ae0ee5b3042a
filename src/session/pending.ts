import { Cancellation } from "../cancellation.ts";
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
  readonly page?: RememberedPage;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fresh?: boolean;
}

/** What ended a request besides an answer. */
export type GaveUp = "cancelled" | "timeout";

export type Answer = { readonly result: unknown } | { readonly error: JsonRpcErrorObject };

/** One request on the wire: who waits for it, and until when. Is itself the transport's `SendOptions`. */
export class Pending implements SendOptions {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  settled = false;
  readonly #startedAt: number;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #giveUp: (pending: Pending, why: GaveUp) => void;
  #wire: Cancellation | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deadline = 0;
  #release: (() => void) | undefined;

  constructor(init: {
    id: number;
    method: string;
    options: RequestOptions;
    resolve: (answer: Answer) => void;
    reject: (error: unknown) => void;
    giveUp: (pending: Pending, why: GaveUp) => void;
  }) {
    this.id = init.id;
    this.method = init.method;
    this.options = init.options;
    this.#resolve = init.resolve;
    this.#reject = init.reject;
    this.#giveUp = init.giveUp;
    this.#startedAt = init.options.timeoutMs === undefined ? 0 : performance.now();
    this.#arm();
    this.#release = init.options.cancellation?.onCancel(() => this.#giveUp(this, "cancelled"));
  }

  get headers(): Readonly<Record<string, string>> | undefined {
    return this.options.headers;
  }

  get fresh(): boolean {
    return this.options.fresh === true;
  }

  /** Made only where a transport asks for it. */
  get signal(): AbortSignal {
    this.#wire ??= new Cancellation();
    return this.#wire.signal;
  }

  readonly answered = (): boolean => this.settled;

  get outcomeUnknown(): boolean {
    return this.options.effects === true;
  }

  /** Milliseconds until silence ends it. */
  get remainingMs(): number {
    return this.options.timeoutMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#deadline - performance.now());
  }

  /** The seconds that were waited for, for a sentence: of silence, or in all. */
  get waitedSeconds(): number {
    const { timeoutMs = 0, totalMs } = this.options;
    const capped = totalMs !== undefined && performance.now() - this.#startedAt >= totalMs - 1;
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
    const { timeoutMs } = this.options;
    const more = timeoutMs === undefined || this.settled ? 0 : wait.putOff(timeoutMs);
    if (more <= 0) return false;
    this.#deadline = performance.now() + more;
    this.#timer = setTimeout(() => this.#giveUp(this, "timeout"), more);
    return true;
  }

  resolve(answer: Answer): void {
    if (this.#end()) this.#resolve(answer);
  }

  reject(error: unknown): void {
    if (this.#end()) this.#reject(error);
  }

  /** Closes its own exchange, or what is not yet written of it. */
  abort(): void {
    this.#wire?.cancel();
  }

  #arm(): void {
    const { timeoutMs, totalMs } = this.options;
    if (timeoutMs === undefined) return;
    clearTimeout(this.#timer);
    const now = performance.now();
    const left = Math.max(0, totalMs === undefined ? timeoutMs : Math.min(timeoutMs, this.#startedAt + totalMs - now));
    this.#deadline = now + left;
    this.#timer = setTimeout(() => this.#giveUp(this, "timeout"), left);
  }

  #end(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.#timer);
    this.#release?.();
    this.#release = undefined;
    return true;
  }
}
