import { SERVER_FIELDS } from "./check.ts";
import type { Json } from "./document.ts";

const WRITTEN: ReadonlyMap<string, string> = new Map([
  ...SERVER_FIELDS.map((field) => [fold(field), field] as const),
  // Codex, Kiro, Roo and Windsurf, whose entries are pasted.
  [fold("disabledTools"), "excludeTools"],
  [fold("enabledTools"), "includeTools"],
]);

/** Fields that are not read, but differ from one that is by case, `_`, `-` or an `s` at the end alone, or are its name elsewhere. */
export function misspeltFields(raw: Json): readonly (readonly [field: string, meant: string])[] {
  return Object.entries(raw).flatMap(([field, value]) => {
    const meant = SERVER_FIELDS.includes(field) ? undefined : WRITTEN.get(fold(field));
    // Where the meant field stands beside it, the other is somebody else's; and an empty list means nothing.
    if (meant === undefined || Object.hasOwn(raw, meant) || (Array.isArray(value) && value.length === 0)) return [];
    return [[field, meant] as const];
  });
}

function fold(field: string): string {
  return field.toLowerCase().replace(/[_-]/g, "").replace(/s$/, "");
}
