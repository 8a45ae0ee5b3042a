import { Cancellation } from "../cancellation.ts";
import type { AgentToolResult, StepHandle, StepResult } from "../contract.ts";
import { AdapterError, type Failure, toFailure } from "../errors.ts";

const PENDING: StepResult = Object.freeze({ tag: "pending" });
const DESTROYED: StepResult = Object.freeze({ tag: "err", ...toFailure(new AdapterError("destroyed", {})) });

export interface StepOptions {
  /** Does the work. Its late outcome, after a cancel, is dropped. */
  readonly run: (step: StepContext) => Promise<AgentToolResult>;
  /** The failure as the host may see it. */
  readonly describe: (error: unknown) => Failure;
  readonly maxPartials: number;
  readonly onEnd: (step: Step) => void;
}

/** What the work sees of its step. */
export interface StepContext {
  readonly cancellation: Cancellation;
  /** Shows a partial result at the host's next poll; dropped once the step is terminal. */
  readonly partial: (partial: AgentToolResult) => void;
}

/** One tool call: its state machine (running → done | err → destroyed), and what the host sees of it. */
export class Step implements StepHandle {
  readonly settled: Promise<void>;
  readonly #options: StepOptions;
  readonly #cancellation = new Cancellation();
  #settle: () => void = () => undefined;
  #partials: AgentToolResult[] = [];
  #state: StepResult = PENDING;
  #destroyed = false;

  constructor(options: StepOptions) {
    this.#options = options;
    this.settled = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Starts the work; called once, by whoever made the step. */
  start(): void {
    const context: StepContext = { cancellation: this.#cancellation, partial: (partial) => this.#push(partial) };
    // Its promise never rejects: every outcome ends in `#end`.
    void this.#run(context);
  }

  poll(onPartial?: (partial: AgentToolResult) => void): StepResult {
    if (onPartial !== undefined && this.#partials.length > 0) this.#deliver(onPartial);
    return this.#state;
  }

  cancel(): void {
    if (this.#state === PENDING) this.cancelWith(new AdapterError("cancelled", {}));
  }

  /** Ends a running step with this error, at once. */
  cancelWith(error: AdapterError): void {
    if (this.#state !== PENDING) return;
    this.#end({ tag: "err", ...this.#options.describe(error) });
    this.#cancellation.cancel();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.cancel();
    this.#partials = [];
    this.#state = DESTROYED;
  }

  async #run(context: StepContext): Promise<void> {
    try {
      const result = await this.#options.run(context);
      this.#end({ tag: "done", result });
    } catch (error) {
      this.#end({ tag: "err", ...this.#options.describe(error) });
    }
  }

  #end(state: StepResult): void {
    if (this.#state !== PENDING) return;
    this.#state = state;
    this.#options.onEnd(this);
    this.#settle();
  }

  #push(partial: AgentToolResult): void {
    if (this.#state !== PENDING) return;
    // A host that never polls must not make memory grow; the newest progress is what counts.
    if (this.#partials.length >= this.#options.maxPartials) this.#partials.shift();
    this.#partials.push(partial);
  }

  #deliver(onPartial: (partial: AgentToolResult) => void): void {
    for (let partial = this.#partials.shift(); partial !== undefined; partial = this.#partials.shift()) {
      onPartial(partial);
      // The callback may have destroyed the step.
      if (this.#destroyed) return;
    }
  }
}
