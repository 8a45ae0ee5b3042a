import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PiContext } from "./pi-api.ts";

/** What Pi reads of a project only after a person has trusted it. */
const PROTECTED = [
  "settings.json",
  "mcp.json",
  "extensions",
  "skills",
  "prompts",
  "themes",
  "SYSTEM.md",
  "APPEND_SYSTEM.md",
];

/**
 * Whether a person has decided that Pi may run what this project's files name. Pi says `true` as well where it has nothing
 * to protect (a project with only `.mcp.json`), so its word counts where it had to be asked: a protected file, or
 * `--approve`. To be asked when the session starts, before anything of the model can have written such a file.
 */
export function isProjectTrusted(context: PiContext | undefined): boolean {
  try {
    if (context?.isProjectTrusted?.() !== true || typeof context.cwd !== "string") return false;
    const folder = join(context.cwd, ".pi");
    return isApproved(process.argv) || PROTECTED.some((name) => existsSync(join(folder, name)));
  } catch {
    return false; // A host that cannot say has not said yes.
  }
}

function isApproved(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(2, end < 0 ? undefined : end).some((word) => word === "--approve" || word === "-a");
}
