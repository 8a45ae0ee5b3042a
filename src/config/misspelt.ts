import type { Json } from "./document.ts";

/** Every field of a server that is read, as schemas/mcp-config.schema.json has them. */
export const SERVER_FIELDS: readonly string[] = [
  "command",
  "args",
  "env",
  "cwd",
  "inheritEnv",
  "url",
  "headers",
  "oauth",
  "type",
  "transport",
  "protocol",
  "enabled",
  "disabled",
  "timeout",
  "timeout_ms",
  "timeoutMs",
  "maxTotalSeconds",
  "maxResultBytes",
  "stopOnCancel",
  "autoApprove",
  "includeTools",
  "excludeTools",
  "exposure",
];

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
