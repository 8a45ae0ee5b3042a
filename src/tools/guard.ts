import type { ContentBlock } from "../contract.ts";
import { AdapterError, isAdapterError } from "../errors.ts";
import type { Situation } from "../messages.ts";
import type { Spill } from "../runtime/spill.ts";
import type { ServerSpec } from "../server-spec.ts";
import { headOf, tailOf } from "./text.ts";
import type { ToolContext } from "./tool.ts";

/** Of what is kept, how much is the beginning. */
const HEAD_SHARE = 0.7;
/** Below this a kept piece says nothing; only the note remains. */
const MIN_KEPT_BYTES = 40;

/** The line end that joins two texts. */
const LINE_END_BYTES = 1;

export interface GuardOptions {
  readonly maxBytes: number;
  readonly spill: Spill;
}

/** The size limit for the results of one server, and where longer ones are kept whole. */
export function guardOptions(spec: ServerSpec, { runtime }: ToolContext): GuardOptions {
  return { maxBytes: spec.maxResultBytes ?? runtime.limits.resultBytes, spill: runtime.spill };
}

/** Whether all text of a result certainly fits: a character has at most three bytes in UTF-8. Spares short texts the counting. */
export function fitsGuard(content: readonly ContentBlock[], { maxBytes }: GuardOptions): boolean {
  let most = 0;
  for (const block of content) if (block.type === "text") most += block.text.length * 3 + 1;
  return most <= maxBytes;
}

/**
 * Keeps the text of a result, all blocks together, within its bound: what does not fit keeps its head and tail around a note,
 * and is kept whole in a private file that the note names. Blocks that are no text stay where they are.
 */
export async function guardContent(
  content: readonly ContentBlock[],
  { maxBytes, spill }: GuardOptions,
): Promise<ContentBlock[]> {
  const texts = content.filter((block) => block.type === "text").map(({ text }) => text);
  const whole = texts.join("\n");
  const bytes = Buffer.byteLength(whole);
  if (bytes <= maxBytes) return [...content];
  const where = await kept(whole, spill);
  const room = maxBytes - Buffer.byteLength(noteOf(bytes, bytes, where)) - 2;
  return room < MIN_KEPT_BYTES
    ? withoutMiddle(content, 0, 0, bytes, where)
    : withoutMiddle(content, room * HEAD_SHARE, room, bytes, where);
}

/** Whole blocks and one cut block from each end, as many as fit; the note stands with the cut one of the beginning. */
function withoutMiddle(
  content: readonly ContentBlock[],
  headRoom: number,
  room: number,
  bytes: number,
  where: string,
): ContentBlock[] {
  let first = 0;
  let head = "";
  let shown = 0;
  for (; first < content.length; first++) {
    const block = content[first];
    if (block?.type !== "text") continue;
    head = headOf(block.text, Math.floor(headRoom - shown));
    shown += Buffer.byteLength(head);
    if (head.length < block.text.length || shown + LINE_END_BYTES > headRoom) break;
    shown += LINE_END_BYTES;
  }
  let last = content.length - 1;
  let tail = "";
  for (; last >= first; last--) {
    const block = content[last];
    if (block?.type !== "text") continue;
    const rest = last === first ? block.text.slice(head.length) : block.text;
    tail = tailOf(rest, room - shown);
    shown += Buffer.byteLength(tail);
    if (tail.length < rest.length || shown + LINE_END_BYTES > room) break;
    shown += LINE_END_BYTES;
  }
  const note = noteOf(bytes - shown, bytes, where);
  const lines = (...parts: string[]): ContentBlock => ({
    type: "text",
    text: parts.filter((part) => part !== "").join("\n"),
  });
  return content.flatMap((block, at) => {
    if (block.type !== "text" || at < first || at > last) return [block];
    if (at === first) return [at === last ? lines(head, note, tail) : lines(head, note)];
    return at === last && tail !== "" ? [lines(tail)] : [];
  });
}

function noteOf(left: number, bytes: number, where: string): string {
  return `[… ${left} of ${bytes} bytes left out; ${where} …]`;
}

/** One text within the bound, as above. */
export async function guardText(text: string, options: GuardOptions): Promise<string> {
  if (text.length * 3 <= options.maxBytes) return text;
  const [block] = await guardContent([{ type: "text", text }], options);
  return block?.type === "text" ? block.text : text;
}

/** Our own words in an error message are shorter than this, and are never cut. */
const MAX_OWN_BYTES = 1000;

/** A failure whose words, with a server's in them, are within the bound of a result. */
export async function guardError(error: unknown, spec: ServerSpec, context: ToolContext): Promise<unknown> {
  const options = guardOptions(spec, context);
  if (!isAdapterError(error) || Buffer.byteLength(error.message) <= Math.max(options.maxBytes, MAX_OWN_BYTES))
    return error;
  // Cut before it is masked, a secret would show its beginning or its end.
  const message = await guardText(context.runtime.redactor.text(error.message), options);
  return new AdapterError<Situation>(error.situation, error.details, { cause: error, message });
}

/** Keeps a text in a private file; returns where it is, as part of a sentence. */
export async function kept(text: string, spill: Spill, extension: "txt" | "json" = "txt"): Promise<string> {
  try {
    return `the whole text is in ${await spill.write(text, extension)} until the session ends`;
  } catch {
    return "it could not be kept in a file"; // A full or read-only disk must not lose what can be shown.
  }
}
