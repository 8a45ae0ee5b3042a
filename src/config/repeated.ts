import { quote } from "../messages.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { treeOf } from "./json.ts";

type Node = Awaited<ReturnType<typeof treeOf>>;

/** Whole texts, so that nothing within them is taken for a name, and comments. */
const TOKENS = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs;

const TOLD_NAMES = 5;

const found = new WeakMap<object, readonly string[]>();

/**
 * Looks in the text of one of our files for servers, and lists of servers, that are there more than once. JSON lets the last of
 * them count, and its readers do not tell.
 */
export async function noteRepeated(text: string, value: unknown): Promise<void> {
  if (!isObject(value) || !isObject(value["mcpServers"])) return;
  const names = new Set(["mcpServers", ...Object.keys(value["mcpServers"])]);
  // A name may also be that of a field or of a variable further down: the tree tells, and is made only then.
  if (hasTwice(text, names)) found.set(value, await inTree(text));
}

/** What was found of a value, each as the end of a sentence about its file. */
export function repeatedIn(value: object): readonly string[] {
  return found.get(value) ?? [];
}

function hasTwice(text: string, names: ReadonlySet<string>): boolean {
  const seen = new Set<string>();
  for (const [, name, colon] of text.matchAll(TOKENS)) {
    if (name === undefined || colon === undefined || !names.has(name)) continue;
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

async function inTree(text: string): Promise<readonly string[]> {
  const root = members(await treeOf(text));
  const lists = root.filter(({ name }) => name === "mcpServers");
  const problems = lists.length > 1 ? ['has "mcpServers" more than once; only the last counts'] : [];
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name } of members(lists.at(-1)?.value)) (seen.has(name) ? twice : seen).add(name);
  const told = [...twice].slice(0, TOLD_NAMES).map(quote).join(", ");
  const more = twice.size > TOLD_NAMES ? ", …" : "";
  if (twice.size > 0) problems.push(`names servers more than once (${told}${more}); only the last counts`);
  return problems;
}

function members(node: Node): readonly { readonly name: string; readonly value: Node }[] {
  const children = node?.type === "object" ? (node.children ?? []) : [];
  return children.map(({ children: [name, value] = [] }) => ({ name: String(name?.value), value }));
}
