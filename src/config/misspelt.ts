import { SERVER_FIELDS } from "./check.ts";
import type { Json } from "./document.ts";

const WRITTEN: ReadonlyMap<string, string> = new Map(SERVER_FIELDS.map((field) => [fold(field), field]));
/** The names that Codex, Kiro, mcp-cli, OpenCode, Roo and Windsurf have, whose entries are pasted. An empty list means nothing. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  [fold("disabledTools"), "excludeTools"],
  [fold("enabledTools"), "includeTools"],
  [fold("allowedTools"), "includeTools"],
  [fold("environment"), "env"],
  [fold("http_headers"), "headers"],
]);

/**
 * Fields that are not read, but differ from one that is by case, `_`, `-` or an `s` at the end alone, or are the name that
 * it has elsewhere.
 */
export function misspeltFields(raw: Json): readonly (readonly [field: string, meant: string])[] {
  return Object.entries(raw).flatMap(([field, value]) => {
    const isEmpty = Array.isArray(value) && value.length === 0;
    const meant = SERVER_FIELDS.includes(field)
      ? undefined
      : (WRITTEN.get(fold(field)) ?? (isEmpty ? undefined : ELSEWHERE.get(fold(field))));
    // Where the meant field stands beside it, the other is somebody else's.
    return meant === undefined || Object.hasOwn(raw, meant) ? [] : [[field, meant] as const];
  });
}

function fold(field: string): string {
  return field.toLowerCase().replace(/[_-]/g, "").replace(/s$/, "");
}
