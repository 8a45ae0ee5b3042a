import { AdapterError } from "../errors.ts";
import { matchesAny } from "../runtime/patterns.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Catalog, Item } from "../session/catalog.ts";
import { nearNames } from "./near-names.ts";
import { rank } from "./search.ts";

const NEAR_NAMES = 5;
const ALIKE_NAMES = 3;

/** Whether the entry's `includeTools` and `excludeTools` keep the tool from everybody. */
export function isHidden({ includeTools, excludeTools }: ServerSpec, tool: string): boolean {
  if (includeTools !== undefined && !matchesAny(includeTools, tool)) return true;
  return excludeTools !== undefined && matchesAny(excludeTools, tool);
}

/** The items of a list that the entry's filters let through. */
export function visible(spec: ServerSpec, { kind, items }: Catalog): ReadonlyMap<string, Item> {
  if (kind !== "tools" || (spec.includeTools === undefined && spec.excludeTools === undefined)) return items;
  return new Map([...items].filter(([name]) => !isHidden(spec, name)));
}

/** Why a tool, or one item of another list, that was named cannot be used. */
export function unknownTool(spec: ServerSpec, tool: string, catalog: Catalog): AdapterError {
  const server = spec.name;
  if (catalog.items.has(tool)) return new AdapterError("tool.hidden", { server, tool });
  const bad = catalog.leftOut.find(({ name }) => name === tool);
  if (bad !== undefined) return new AdapterError("tool.badHeader", { server, tool, reason: bad.reason });
  const items = [...visible(spec, catalog)].map(([name, item]) => ({ name, item }));
  const names = items.map(({ name }) => name);
  // A name that was guessed often says the same in other words.
  const alike = rank(tool, items).slice(0, ALIKE_NAMES);
  const near = new Set([...nearNames(tool, names, NEAR_NAMES), ...alike.map(({ name }) => name)]);
  return new AdapterError("tool.unknown", {
    server,
    kind: catalog.kind,
    tool,
    near: [...near].slice(0, NEAR_NAMES),
    count: items.length,
  });
}
