import { clearInterval, setInterval } from "node:timers";
import { AdapterError } from "../errors.ts";
import { Roster } from "../roster.ts";
import type { Step } from "./step.ts";

/** The longest delay that a timer can have. */
const FOR_EVER_MS = 2_147_483_647;

/** The running steps of one plugin: while there are any, a timer keeps the host process alive; shutdown cancels them. */
export class Steps {
  readonly #running = new Roster<Step>();
  #keepAlive: NodeJS.Timeout | undefined;
  #isOver = false;

  add(step: Step): void {
    this.#running.add(step);
    if (this.#running.size > 1 || this.#isOver) return;
    // One timer for the plugin's life: ref and unref are much cheaper than a new timer for each step.
    this.#keepAlive ??= setInterval(() => undefined, FOR_EVER_MS);
    this.#keepAlive.ref();
  }

  delete(step: Step): void {
    this.#running.delete(step);
    if (this.#running.size === 0) this.#keepAlive?.unref();
  }

  /** Ends every running step; steps that come later end at once, and hold nothing. */
  cancelAll(): void {
    for (const step of this.#running.all()) {
      const { outcomeUnknown } = step;
      step.cancelWith(new AdapterError("shutdown", outcomeUnknown ? { outcomeUnknown } : {}));
    }
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
    this.#isOver = true;
  }
}
