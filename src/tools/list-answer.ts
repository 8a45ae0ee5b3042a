import type { AgentToolResult } from "../contract.ts";
import { cut } from "../cut.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Catalog, Item } from "../session/catalog.ts";
import { guardOptions, kept } from "./guard.ts";
import { fits, shortened } from "./json-answer.ts";
import { brief } from "./signature.ts";
import type { ToolContext } from "./tool.ts";

const INSTRUCTIONS_CHARACTERS = 1000;
const NOTED_NAMES = 20;

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

/** A list in full where that fits, else in brief, else as names; always valid JSON that says how to get one in full. */
export async function listAnswer(options: ListAnswerOptions): Promise<AgentToolResult> {
  const { head, items, catalog, spec, context, single } = options;
  const { kind } = catalog;
  const { maxBytes: limit } = guardOptions(spec, context);
  const { instructions, ...said } = head;
  const told = instructions === undefined || single ? {} : { instructions: cut(instructions, INSTRUCTIONS_CHARACTERS) };
  const notes = notesOf(options);
  const whole = JSON.stringify({ ...said, ...told, [kind]: [...items.values()], ...notes });
  // Read anew, so that it is the host's own: the list itself is remembered while the server's does not change.
  const details = JSON.parse(whole) as Record<string, unknown>;
  if (instructions !== undefined) details["instructions"] = instructions;
  const identity = { ...said, serverInfo: withoutIcons(said.serverInfo) };
  const full = [said.serverInfo, ...items.values()].every((item) => item["icons"] === undefined)
    ? whole
    : JSON.stringify({ ...identity, ...told, [kind]: [...items.values()].map(withoutIcons), ...notes });
  if (fits(full, limit)) return { content: [{ type: "text", text: full }], details };
  if (single) return { content: [{ type: "text", text: await wholeInFile(options, identity, full) }], details };
  const hint =
    kind === "tools"
      ? 'Shortened. mcp_list with "tool": one in full; with "query": the best matches.'
      : 'Shortened. mcp_list with "query" narrows it.';
  const text = shortened([...items], {
    limit,
    brief: ([name, item]) => brief(name, item),
    name: ([name]) => name,
    make: (shown, more) =>
      more === undefined ? { ...identity, [kind]: shown, hint, ...notes } : { ...identity, [kind]: shown, more, hint },
  });
  return { content: [{ type: "text", text }], details };
}

/** Icons are for a screen, and often whole images as base64: a model does not pay for them. */
export function withoutIcons(item: Item): Item {
  if (item["icons"] === undefined) return item;
  const { icons: _, ...rest } = item;
  return rest;
}

async function wholeInFile(
  { catalog: { kind }, items, context }: ListAnswerOptions,
  identity: Record<string, unknown>,
  full: string,
): Promise<string> {
  const [[name, item] = ["", {}] as const] = items;
  const hint = `Too large to show; ${await kept(full, context.runtime.spill, "json")}.`;
  return JSON.stringify({ ...identity, [kind]: [brief(name, item)], hint });
}

/** What a reader must know beyond the items themselves; of a single one, what concerns it. */
function notesOf({ items, catalog, spec, single }: ListAnswerOptions): Record<string, unknown> {
  const { leftOut } = catalog;
  const duplicates = single ? catalog.duplicates.filter((name) => items.has(name)) : catalog.duplicates;
  const notes = duplicates.length === 0 ? {} : { duplicates: duplicates.slice(0, NOTED_NAMES) };
  if (single) return notes;
  return {
    ...notes,
    ...(leftOut.length === 0 ? {} : { leftOut: leftOut.slice(-NOTED_NAMES) }),
    ...(spec.includeTools === undefined && spec.excludeTools === undefined ? {} : { filtered: true }),
  };
}
