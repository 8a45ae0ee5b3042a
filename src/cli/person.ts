import { Mutex } from "../mutex.ts";
import type { Terminal } from "./terminal.ts";

export interface Question {
  /** Stands before the cursor. */
  readonly prompt: string;
  /** Printed before the prompt. */
  readonly text?: string;
  readonly signal: AbortSignal;
}

/** Asks the person at the terminal, one question at a time. */
export class Person {
  readonly #terminal: Terminal;
  readonly #mutex = new Mutex();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Has the person to itself while it runs: others who want to ask wait. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(() => this.#terminal.withoutSpinner(work));
  }

  /** The line typed; nothing after Ctrl-D or when the question is withdrawn. To be asked within `alone`. */
  async ask({ prompt, text, signal }: Question): Promise<string | undefined> {
    const { createInterface } = await import("node:readline");
    if (signal.aborted) return undefined;
    if (text !== undefined) this.#terminal.note(text);
    const { input, err } = this.#terminal.streams;
    const reader = createInterface({ input, output: err });
    // A terminal gives Ctrl-C to the reader, and the program's own handler would not hear of it.
    reader.on("SIGINT", () => process.emit("SIGINT", "SIGINT"));
    const close = (): void => reader.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      return await new Promise<string | undefined>((resolve) => {
        reader.once("close", () => resolve(undefined));
        reader.question(prompt, resolve);
      });
    } finally {
      signal.removeEventListener("abort", close);
      reader.close();
    }
  }

  /** A yes or no; no after Ctrl-D. */
  async agrees(question: Question): Promise<boolean> {
    for (;;) {
      const line = await this.ask(question);
      if (line === undefined) return false;
      const word = line.trim().toLowerCase();
      if (word === "y" || word === "yes") return true;
      if (word === "" || word === "n" || word === "no") return false;
    }
  }
}
