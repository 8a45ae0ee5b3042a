import type { AgentToolResult } from "../contract.ts";
import { cut } from "../cut.ts";

const PROBLEM_CHARACTERS = 120;

/** One JSON text block, and the same object as details. */
export function json(value: Record<string, unknown>): AgentToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], details: value };
}

/** How a list is shortened to fit in `limit` bytes. */
export interface Shortening<T> {
  readonly limit: number;
  readonly brief: (item: T) => unknown;
  readonly name: (item: T) => string;
  /** The answer with this in the list's place: all in brief, or as many names as fit, with the number of those left out. */
  readonly make: (shown: readonly unknown[], left?: number) => Record<string, unknown>;
}

/** As `json`, with the list shortened if the text would be too long. `details` may hold more than the text. */
export function shortJson<T>(
  value: Record<string, unknown>,
  list: readonly T[],
  shortening: Shortening<T>,
  details: Record<string, unknown> = value,
): AgentToolResult {
  const full = JSON.stringify(value);
  const text = fits(full, shortening.limit) ? full : shortened(list, shortening);
  return { content: [{ type: "text", text }], details };
}

/** The list in brief if that fits, else as many names as fit (by binary search). */
export function shortened<T>(list: readonly T[], { limit, brief, name, make }: Shortening<T>): string {
  const briefs = JSON.stringify(make(list.map(brief)));
  if (fits(briefs, limit)) return briefs;
  const names = list.map(name);
  const first = (count: number): string => JSON.stringify(make(names.slice(0, count), names.length - count));
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(first(middle), limit)) low = middle;
    else high = middle - 1;
  }
  return first(low);
}

/** A problem as a shortened answer tells it. */
export function briefly(problem: string): string {
  return cut(problem, PROBLEM_CHARACTERS);
}

/** Whether a text has at most so many bytes in UTF-8. */
export function fits(text: string, limit: number): boolean {
  return text.length * 3 <= limit || (text.length <= limit && Buffer.byteLength(text) <= limit);
}
