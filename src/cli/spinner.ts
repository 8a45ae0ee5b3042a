import yoctoSpinner from "yocto-spinner";

export interface Spinner {
  update(text: string): void;
  pause(): void;
  resume(): void;
  stop(): void;
}

/** A line that moves while something is under way. Signals are left to the program. */
export function startSpinner(stream: NodeJS.WriteStream, text: string): Spinner {
  const spinner = yoctoSpinner({ text, stream, handleSignals: false }).start();
  let current = text;
  let stopped = false;
  return {
    update: (changed) => {
      current = changed;
      // Setting the text draws it, even while it is taken away.
      if (spinner.isSpinning) spinner.text = changed;
    },
    pause: () => {
      spinner.stop();
    },
    resume: () => {
      if (!stopped) spinner.start(current);
    },
    stop: () => {
      stopped = true;
      spinner.stop();
    },
  };
}
