import { fileURLToPath } from "node:url";
import type { PiApi, PiContext } from "./pi-api.ts";

const CHANNEL = "rpi-mcp-adapter.present";

export interface Claim {
  readonly granted: boolean;
  release(): void;
}

interface Question {
  readonly url: string;
  taken: boolean;
}

/**
 * Two extensions with the same tools end Pi at its start. Whoever has this package installed twice (for the user and for a
 * project, say) gets the first copy: the second finds it on the session's event bus and stands back.
 */
export function claimSession(events: PiApi["events"]): Claim {
  let present = true;
  const claim = (granted: boolean): Claim => ({
    granted,
    release: () => {
      present = false;
    },
  });
  if (typeof events?.emit !== "function" || typeof events.on !== "function") return claim(true);
  try {
    const question: Question = { url: import.meta.url, taken: false };
    events.emit(CHANNEL, question);
    if (question.taken) return claim(false);
    events.on(CHANNEL, (asked) => {
      // The same file once more is the host loading it anew, not a second copy.
      if (present && isQuestion(asked) && asked.url !== import.meta.url) asked.taken = true;
    });
  } catch {
    // Without a bus there is no second copy to be found.
  }
  return claim(true);
}

/** Tells the person which of two installed copies is inactive, if there is a UI. */
export function tellOfTwin(context: PiContext | undefined): void {
  const message = `rpi-mcp-adapter is installed twice. This copy stays idle: ${fileURLToPath(import.meta.url)}`;
  if (context?.hasUI === true) context.ui?.notify?.(message, "warning");
}

function isQuestion(value: unknown): value is Question {
  return typeof value === "object" && value !== null && "taken" in value && "url" in value;
}
