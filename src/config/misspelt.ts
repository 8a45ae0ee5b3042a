import { quote } from "../messages.ts";
import { SERVER_FIELDS } from "./check.ts";
import type { Json } from "./json.ts";

const WRITTEN: ReadonlyMap<string, string> = new Map(SERVER_FIELDS.map((field) => [fold(field), field]));
/** The names that Codex, Kiro, Mastra, mcp-cli, OpenCode, Roo, Warp and Windsurf have, whose entries are pasted. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  [fold("disabledTools"), "excludeTools"],
  [fold("enabledTools"), "includeTools"],
  [fold("allowedTools"), "includeTools"],
  [fold("environment"), "env"],
  [fold("http_headers"), "headers"],
  [fold("requestInit"), "headers"],
  [fold("bearer_token_env_var"), "bearerTokenEnv"],
  [fold("working_directory"), "cwd"],
  [fold("alwaysAllow"), "autoApprove"],
]);

/**
 * Fields that are not read, but differ from one that is by case, `_`, `-` or an `s` at the end alone, or do elsewhere what one of
 * ours does; with what to do, as the end of a sentence.
 */
export function misspeltFields(raw: Json): readonly (readonly [field: string, advice: string])[] {
  return Object.entries(raw).flatMap(([field, value]): [string, string][] => {
    if (SERVER_FIELDS.includes(field)) return [];
    const meant = WRITTEN.get(fold(field)) ?? (isEmpty(value) ? undefined : meantElsewhere(field, value));
    if (meant === undefined) return field === "envFile" ? [[field, "put its variables into env"]] : [];
    // Where the meant field stands beside it, the other is somebody else's.
    return Object.hasOwn(raw, meant) ? [] : [[field, `write ${quote(meant)}`]];
  });
}

function meantElsewhere(field: string, value: unknown): string | undefined {
  // Copilot's: all tools are a star there, and an object has other facts about them.
  if (field === "tools") return Array.isArray(value) && !value.includes("*") ? "includeTools" : undefined;
  return ELSEWHERE.get(fold(field));
}

/** An empty list means nothing. */
function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function fold(field: string): string {
  return field.toLowerCase().replace(/[_-]/g, "").replace(/s$/, "");
}
