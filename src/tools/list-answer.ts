import type { AgentToolResult } from "../contract.ts";
import { cut } from "../cut.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Catalog, Item } from "../session/catalog.ts";
import { brief } from "./signature.ts";
import type { ToolContext } from "./tool.ts";

const INSTRUCTIONS_CHARACTERS = 1000;
const NOTED_NAMES = 20;
const PROBLEM_CHARACTERS = 120;

/** What stands before a list: who answered. */
export interface ListHead {
  readonly server: string;
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly protocolVersion: string;
  readonly instructions?: string;
}

export interface ListAnswerOptions {
  readonly head: ListHead;
  readonly items: ReadonlyMap<string, Item>;
  readonly catalog: Catalog;
  readonly spec: ServerSpec;
  readonly context: ToolContext;
  /** One item was asked for in full. */
  readonly single: boolean;
}

/** One JSON text block, and the same object as details. */
export function json(value: Record<string, unknown>): AgentToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], details: value };
}

export interface Shortening<T> {
  readonly limit: number;
  readonly brief: (item: T) => unknown;
  readonly name: (item: T) => string;
  /** The answer with this in the list's place, and so many left out. */
  readonly make: (shown: readonly unknown[], left: number) => Record<string, unknown>;
}

/**
 * As `json`, where the text may be too long: then with the list in brief, else as names, as many as fit. `details` may hold what
 * the text does not.
 */
export function shortJson<T>(
  value: Record<string, unknown>,
  list: readonly T[],
  { limit, brief, name, make }: Shortening<T>,
  details: Record<string, unknown> = value,
): AgentToolResult {
  const full = JSON.stringify(value);
  if (fits(full, limit)) return { content: [{ type: "text", text: full }], details };
  const briefs = JSON.stringify(make(list.map(brief), 0));
  const text = fits(briefs, limit)
    ? briefs
    : namesThatFit(list.map(name), (names, left) => JSON.stringify(make(names, left)), limit);
  return { content: [{ type: "text", text }], details };
}

/** A problem as a shortened answer tells it. */
export function briefly(problem: string): string {
  return cut(problem, PROBLEM_CHARACTERS);
}

/** A list in full where that fits, else in brief, else as names; always valid JSON that says how to get one in full. */
export async function listAnswer(options: ListAnswerOptions): Promise<AgentToolResult> {
  const { head, items, catalog, spec, context, single } = options;
  const { kind } = catalog;
  const limit = spec.maxResultBytes ?? context.runtime.limits.resultBytes;
  const { instructions, ...said } = head;
  const shown =
    instructions === undefined || single ? {} : { instructions: cut(instructions, INSTRUCTIONS_CHARACTERS) };
  const notes = notesOf(options);
  const whole = JSON.stringify({ ...said, ...shown, [kind]: [...items.values()], ...notes });
  // Read anew, so that it is the host's own: the list itself is remembered while the server's does not change.
  const details = JSON.parse(whole) as Record<string, unknown>;
  if (instructions !== undefined) details["instructions"] = instructions;
  const identity = { ...said, serverInfo: withoutIcons(said.serverInfo) };
  const full = [said.serverInfo, ...items.values()].every((item) => item["icons"] === undefined)
    ? whole
    : JSON.stringify({ ...identity, ...shown, [kind]: [...items.values()].map(withoutIcons), ...notes });
  if (fits(full, limit)) return { content: [{ type: "text", text: full }], details };
  const text = single ? await wholeInFile(options, identity, full) : compact(options, identity, notes, limit);
  return { content: [{ type: "text", text }], details };
}

/** Icons are for a screen, and often whole images as base64: a model does not pay for them. */
export function withoutIcons(item: Item): Item {
  if (item["icons"] === undefined) return item;
  const { icons: _, ...rest } = item;
  return rest;
}

function compact(
  { catalog: { kind }, items }: ListAnswerOptions,
  identity: Record<string, unknown>,
  notes: Record<string, unknown>,
  limit: number,
): string {
  const hint =
    kind === "tools"
      ? 'Shortened. mcp_list with "tool": one in full; with "query": the best matches.'
      : 'Shortened. mcp_list with "query" narrows it.';
  const briefs = JSON.stringify({
    ...identity,
    [kind]: [...items].map(([name, item]) => brief(name, item)),
    hint,
    ...notes,
  });
  if (fits(briefs, limit)) return briefs;
  return namesThatFit(
    [...items.keys()],
    (names, more) => JSON.stringify({ ...identity, [kind]: names, more, hint }),
    limit,
  );
}

/** As many names as fit, found by halving. */
function namesThatFit(
  names: readonly string[],
  make: (names: readonly string[], more: number) => string,
  limit: number,
): string {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(make(names.slice(0, middle), names.length - middle), limit)) low = middle;
    else high = middle - 1;
  }
  return make(names.slice(0, low), names.length - low);
}

async function wholeInFile(
  { catalog: { kind }, items, context }: ListAnswerOptions,
  identity: Record<string, unknown>,
  full: string,
): Promise<string> {
  const [[name, item] = ["", {}] as const] = items;
  let hint: string;
  try {
    hint = `Too large to show. The whole is in ${await context.runtime.spill.write(full, "json")} until the session ends.`;
  } catch {
    hint = "Too large to show, and it could not be kept in a file."; // A full or read-only disk.
  }
  return JSON.stringify({ ...identity, [kind]: [brief(name, item)], hint });
}

/** What a reader must know beyond the list itself. */
function notesOf({ catalog, spec }: ListAnswerOptions): Record<string, unknown> {
  const { duplicates, leftOut } = catalog;
  return {
    ...(duplicates.length === 0 ? {} : { duplicates: duplicates.slice(0, NOTED_NAMES) }),
    ...(leftOut.length === 0 ? {} : { leftOut: leftOut.slice(-NOTED_NAMES) }),
    ...(spec.includeTools === undefined && spec.excludeTools === undefined ? {} : { filtered: true }),
  };
}

function fits(text: string, limit: number): boolean {
  return text.length * 3 <= limit || (text.length <= limit && Buffer.byteLength(text) <= limit);
}
