import { SERVER_FIELDS } from "./check.ts";
import type { Json } from "./document.ts";

const WRITTEN: ReadonlyMap<string, string> = new Map(SERVER_FIELDS.map((field) => [fold(field), field]));

/** Fields that are not read, but differ from one that is by case, `_`, `-` or an `s` at the end alone. */
export function misspeltFields(raw: Json): readonly (readonly [field: string, meant: string])[] {
  return Object.keys(raw).flatMap((field) => {
    const meant = SERVER_FIELDS.includes(field) ? undefined : WRITTEN.get(fold(field));
    // Where the meant field stands beside it, the other is somebody else's.
    return meant === undefined || Object.hasOwn(raw, meant) ? [] : [[field, meant] as const];
  });
}

function fold(field: string): string {
  return field.toLowerCase().replace(/[_-]/g, "").replace(/s$/, "");
}
