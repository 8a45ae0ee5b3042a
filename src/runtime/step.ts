import { callBack } from "../call-back.ts";
import { Cancellation } from "../cancellation.ts";
import type { AgentToolResult, StepHandle, StepResult } from "../contract.ts";
import { AdapterError, type Failure, reasonOf, toFailure } from "../errors.ts";
import { promised } from "../promised.ts";
import type { Rostered } from "../roster.ts";

const PENDING: StepResult = Object.freeze({ tag: "pending" });
const DESTROYED: StepResult = Object.freeze({ tag: "err", ...toFailure(new AdapterError("destroyed", {})) });

/** The work of a step; may throw synchronously. If the step was cancelled, its outcome is ignored. */
export type StepRun = (step: StepContext) => Promise<AgentToolResult>;

/** What all steps of one host have in common. */
export interface StepOptions {
  /** Turns what was thrown into a failure with secrets masked. */
  readonly describe: (error: unknown) => Failure;
  readonly maxPartials: number;
  readonly onEnd: (step: Step) => void;
}

/** What the work sees of its step. */
export interface StepContext {
  readonly cancellation: Cancellation;
  /** Shows a partial result at the host's next poll; dropped once the step is terminal. */
  readonly partial: (partial: AgentToolResult) => void;
  /** Says whether a request with possible side effects may have reached its server, and not been refused unexecuted. */
  readonly mayRun: (may: boolean) => void;
}

/** One tool call: its state machine (running → done | err → destroyed), and what the host sees of it. */
export class Step implements StepHandle, Rostered {
  readonly settled: Promise<void>;
  place = -1;
  /** A request with possible side effects was sent: a step that ends early cannot say whether they happened. */
  outcomeUnknown = false;
  /** Cleared by `destroy`, which releases everything that the work refers to. */
  #options: StepOptions | undefined;
  readonly #cancellation = new Cancellation();
  #settle: (() => void) | undefined;
  #partials: AgentToolResult[] = [];
  #state: StepResult = PENDING;
  #warned = false;

  constructor(options: StepOptions) {
    this.#options = options;
    this.settled = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Starts the work; called once, by whoever made the step. */
  start(run: StepRun): void {
    if (this.#options === undefined) return;
    const { maxPartials, describe } = this.#options;
    const context: StepContext = {
      cancellation: this.#cancellation,
      partial: (partial) => this.#push(partial, maxPartials),
      mayRun: (may) => {
        this.outcomeUnknown = may;
      },
    };
    promised(run, context).then(
      (result) => this.#end({ tag: "done", result }),
      (error: unknown) => this.#end({ tag: "err", ...described(error, describe) }),
    );
  }

  poll(onPartial?: (partial: AgentToolResult) => void): StepResult {
    if (this.#partials.length > 0) {
      if (onPartial !== undefined) this.#deliver(onPartial);
      // Nothing is shown once the host knows the end.
      if (this.#state !== PENDING) this.#partials = [];
    }
    return this.#state;
  }

  cancel(): void {
    if (this.#state === PENDING) this.cancelWith(new AdapterError("cancelled", {}));
  }

  /** Ends a running step with this error, at once. */
  cancelWith(error: AdapterError): void {
    if (this.#state !== PENDING || this.#options === undefined) return;
    // Progress of a cancelled step is not shown any more.
    this.#partials = [];
    this.#end({ tag: "err", ...this.#options.describe(error) });
    this.#cancellation.cancel();
  }

  destroy(): void {
    this.cancel();
    this.#partials = [];
    this.#options = undefined;
    this.#state = DESTROYED;
  }

  #end(state: StepResult): void {
    if (this.#state !== PENDING) return;
    this.#state = state;
    this.#options?.onEnd(this);
    this.#settle?.();
  }

  #push(partial: AgentToolResult, maxPartials: number): void {
    if (this.#state !== PENDING) return;
    // A host that never polls must not make memory grow; the newest progress is what counts.
    if (this.#partials.length >= maxPartials) this.#partials.shift();
    this.#partials.push(partial);
  }

  /** The callback may cancel or destroy the step, which empties the queue. */
  #deliver(onPartial: (partial: AgentToolResult) => void): void {
    const failed = (error: unknown): void => {
      // The result is delivered all the same; one warning is enough.
      if (this.#warned) return;
      this.#warned = true;
      process.emitWarning(`rpi-mcp-adapter: the host's onPartial failed: ${reasonOf(error)}`);
    };
    for (let next = this.#partials.shift(); next !== undefined; next = this.#partials.shift()) {
      const partial = next;
      callBack(() => onPartial(partial), failed);
    }
  }
}

/** Never throws, so that a step always ends. */
function described(error: unknown, describe: (error: unknown) => Failure): Failure {
  try {
    return describe(error);
  } catch (second) {
    return toFailure(second);
  }
}
