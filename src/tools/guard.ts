import type { ContentBlock } from "../contract.ts";
import type { Spill } from "../runtime/spill.ts";
import { headOf, tailOf } from "./text.ts";

/** Of what is kept, how much is the beginning. */
const HEAD_SHARE = 0.7;
/** Below this a kept piece says nothing; only the note remains. */
const MIN_KEPT_BYTES = 200;

export interface GuardOptions {
  readonly maxBytes: number;
  readonly spill: Spill;
}

/** Whether all text of a result certainly fits: a character has at most three bytes in UTF-8. */
export function fitsGuard(content: readonly ContentBlock[], { maxBytes }: GuardOptions): boolean {
  let characters = 0;
  for (const block of content) if (block.type === "text") characters += block.text.length;
  return characters * 3 <= maxBytes;
}

/**
 * Keeps the whole text of a result within its bound: a text that does not fit keeps its head and tail around a note, and is
 * kept whole in a private file that the note names.
 */
export async function guardContent(content: readonly ContentBlock[], options: GuardOptions): Promise<ContentBlock[]> {
  let left = options.maxBytes;
  const guarded: ContentBlock[] = [];
  for (const block of content) {
    if (block.type !== "text") {
      guarded.push(block);
      continue;
    }
    const bytes = Buffer.byteLength(block.text);
    if (bytes <= left) {
      left -= bytes;
      guarded.push(block);
      continue;
    }
    guarded.push({ type: "text", text: await shortened(block.text, bytes, Math.max(0, left), options.spill) });
    left = 0;
  }
  return guarded;
}

/** One text within the bound, as above. */
export async function guardText(text: string, options: GuardOptions): Promise<string> {
  const bytes = text.length * 3 <= options.maxBytes ? 0 : Buffer.byteLength(text);
  return bytes <= options.maxBytes ? text : shortened(text, bytes, options.maxBytes, options.spill);
}

async function shortened(text: string, bytes: number, budget: number, spill: Spill): Promise<string> {
  const where = await kept(text, spill);
  const note = (shown: number): string => `[… ${bytes - shown} of ${bytes} bytes left out; ${where} …]`;
  const room = budget - Buffer.byteLength(note(0)) - 2;
  if (room < MIN_KEPT_BYTES) return note(0);
  const head = headOf(text, Math.floor(room * HEAD_SHARE));
  const tail = tailOf(text, room - Buffer.byteLength(head));
  return `${head}\n${note(Buffer.byteLength(head) + Buffer.byteLength(tail))}\n${tail}`;
}

async function kept(text: string, spill: Spill): Promise<string> {
  try {
    return `the whole text is in ${await spill.write(text, "txt")} until the session ends`;
  } catch {
    return "it could not be kept in a file"; // A full or read-only disk must not lose what can be shown.
  }
}
