import { callBack } from "../call-back.ts";
import { Mutex } from "../mutex.ts";
import { readable } from "../remote-text.ts";
import { attempt } from "./attempt.ts";
import type { DialogOptions, PiContext, PiUi } from "./pi-api.ts";

type Dialog = "confirm" | "select" | "input";

/** The timeout of a dialog in RPC mode: a client without dialogs would leave it open for ever. */
const REMOTE_DIALOG_MS = 300_000;

/**
 * The person behind the host's UI, asked through the context of the latest call. One conversation at a time, each withdrawn
 * as soon as nobody waits for its answer. Servers choose some of the words: a terminal must take none of them for commands.
 */
export class Dialogs {
  #context: PiContext | undefined;
  readonly #mutex = new Mutex();

  /** With `undefined` nobody is asked any more: the contexts of a session that is over must not be touched. */
  use(context: PiContext | undefined): void {
    this.#context = context;
  }

  /** Whether the host really has this dialog. */
  has(dialog: Dialog | "notify"): boolean {
    return attempt(() => {
      const context = this.#context;
      if (context?.hasUI !== true || typeof context.ui?.[dialog] !== "function") return false;
      const { capabilities } = context;
      return capabilities instanceof Set ? capabilities.has(`ui.${dialog}`) : true;
    }, false);
  }

  /** Whether the person sits at Pi's own terminal, and not behind a program that speaks for them. */
  get atTerminal(): boolean {
    return this.has("select") && attempt(() => this.#context?.mode === "tui", false);
  }

  /** Runs a conversation when those before it are over; `withdrawn` is the answer where nobody waits any more. */
  converse<T>(signal: AbortSignal, withdrawn: T, ask: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () =>
      signal.aborted ? withdrawn : Promise.race([ask(), whenAborted(signal, withdrawn)]),
    );
  }

  async confirm(title: string, message: string, signal: AbortSignal): Promise<boolean> {
    const ui = this.#ui("confirm");
    return (await ui?.confirm?.(readable(title), readable(message), this.#options(signal))) === true;
  }

  async select(title: string, options: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    return this.#ui("select")?.select?.(readable(title), options.map(readable), this.#options(signal));
  }

  async input(title: string, placeholder: string, signal: AbortSignal): Promise<string | undefined> {
    return this.#ui("input")?.input?.(readable(title), readable(placeholder), this.#options(signal));
  }

  notify(message: string, type: "info" | "warning" | "error"): void {
    // A notice that cannot be shown changes nothing.
    callBack(
      () => this.#ui("notify")?.notify?.(readable(message), type),
      () => undefined,
    );
  }

  #ui(dialog: Dialog | "notify"): PiUi | undefined {
    return this.has(dialog) ? this.#context?.ui : undefined;
  }

  #options(signal: AbortSignal): DialogOptions {
    return this.#context?.mode === "rpc" ? { signal, timeout: REMOTE_DIALOG_MS } : { signal };
  }
}

function whenAborted<T>(signal: AbortSignal, value: T): Promise<T> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(value);
    else signal.addEventListener("abort", () => resolve(value), { once: true });
  });
}
