import { cut } from "../cut.ts";
import type { Limits } from "../limits.ts";
import type { Dialect } from "../protocol/dialect.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Transport } from "../transport/transport.ts";

export type ListKind = "tools" | "resources" | "resource_templates" | "prompts";

export interface ListShape {
  readonly method: string;
  /** The member of the result that holds the items. */
  readonly key: string;
  /** What names an item: items without it cannot be used. */
  readonly name: string;
  /** What the server must advertise. */
  readonly capability: string;
}

export const LISTS: Readonly<Record<ListKind, ListShape>> = {
  tools: { method: "tools/list", key: "tools", name: "name", capability: "tools" },
  resources: { method: "resources/list", key: "resources", name: "uri", capability: "resources" },
  resource_templates: {
    method: "resources/templates/list",
    key: "resourceTemplates",
    name: "uriTemplate",
    capability: "resources",
  },
  prompts: { method: "prompts/list", key: "prompts", name: "name", capability: "prompts" },
};

export const LIST_KINDS = Object.keys(LISTS) as readonly ListKind[];

export type Item = Readonly<Record<string, unknown>>;

/** The result of one list request: the items of one page, and where the next begins. */
export type Page = Readonly<Record<string, unknown>>;

/** What one discovery found. The items are the server's own JSON, untouched. */
export interface Catalog {
  readonly kind: ListKind;
  /** By name, in the server's order; of two with one name the first counts. */
  readonly items: ReadonlyMap<string, Item>;
  /** Names that came more than once, the first of them. */
  readonly duplicates: readonly string[];
  /** Items that cannot be used, and why; those without a name are counted. */
  readonly leftOut: readonly LeftOut[];
  readonly pages: readonly Page[];
}

export interface LeftOut {
  readonly name?: string;
  readonly reason: string;
  readonly count?: number;
}

/** Bounds the duplicates and the unusable items that are noted, each. */
const MAX_NOTES = 50;
/** Of a name that is too long to be one. */
const NOTED_CHARACTERS = 100;
/** A longer URI is left out as unusable. */
const ADDRESS_CHARACTERS = 4096;

export interface CatalogOptions {
  readonly dialect: Pick<Dialect, "refuseTool">;
  readonly transport: Transport["kind"];
  readonly limits: Pick<Limits, "nameCharacters">;
}

/** Merges the pages of one discovery into a catalog, leaving out what cannot be used. */
export function makeCatalog(
  kind: ListKind,
  pages: readonly Page[],
  { dialect, transport, limits }: CatalogOptions,
): Catalog {
  const { key, name: nameKey } = LISTS[kind];
  // A longer name could not be used in a call.
  const nameCharacters = kind === "tools" || kind === "prompts" ? limits.nameCharacters : ADDRESS_CHARACTERS;
  const items = new Map<string, Item>();
  const duplicates = new Set<string>();
  const leftOut: LeftOut[] = [];
  const nameless = new Map<string, number>();
  for (const page of pages) {
    const list = page[key];
    if (!Array.isArray(list)) continue;
    for (const item of list) {
      const name = isObject(item) ? item[nameKey] : undefined;
      if (!isObject(item) || typeof name !== "string" || name === "") {
        const reason = isObject(item) ? `it has no usable ${nameKey}` : "it is not an object";
        nameless.set(reason, (nameless.get(reason) ?? 0) + 1);
        continue;
      }
      if (name.length > nameCharacters) {
        if (leftOut.length < MAX_NOTES)
          leftOut.push({ name: cut(name, NOTED_CHARACTERS), reason: `its ${nameKey} has ${name.length} characters` });
        continue;
      }
      const problem = kind === "tools" && transport === "http" ? dialect.refuseTool(item["inputSchema"]) : undefined;
      if (problem !== undefined) {
        if (leftOut.length < MAX_NOTES) leftOut.push({ name, reason: problem });
      } else if (!items.has(name)) items.set(name, item);
      else if (duplicates.size < MAX_NOTES) duplicates.add(name);
    }
  }
  for (const [reason, count] of nameless) leftOut.push({ reason, count });
  return { kind, items, duplicates: [...duplicates], leftOut, pages };
}
