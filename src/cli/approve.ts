import type { ConfigEntry } from "../config/entry.ts";
import type { ApprovalRequest, ServerContext } from "../contract.ts";
import { isAdapterError } from "../errors.ts";
import type { Options } from "./options.ts";
import type { Person } from "./person.ts";
import { loadConfig } from "./servers.ts";
import { oneLine } from "./terminal.ts";

const SHOWN_CHARACTERS = 500;

/**
 * Asks before a server of a project's own files is started. What the person configured or typed is not asked about, and
 * neither are calls: they were typed, too.
 */
export function approver(
  options: Options,
  person: Person,
): (request: ApprovalRequest, context: ServerContext) => Promise<boolean> {
  return async (request, { cwd, signal }) => {
    if (request.action === "call" || request.configPath === undefined || options.config !== undefined) return true;
    if (options.url !== undefined) return true;
    const { servers } = await loadConfig({ cwd: cwd ?? process.cwd() });
    if (isTrusted(servers.get(request.server), cwd ?? process.cwd())) return true;
    const what = request.url ?? [request.command, ...(request.args ?? [])].join(" ");
    const text = [
      `Server "${request.server}" is of this project's own file ${oneLine(request.configPath, SHOWN_CHARACTERS)}:`,
      `  ${oneLine(what, SHOWN_CHARACTERS)}`,
    ].join("\n");
    return person.alone(() => person.agrees({ text, prompt: "Start it? [y/N] ", signal }));
  };
}

/** Whether the contract's trust rule lets a server start without asking. */
function isTrusted(entry: ConfigEntry | undefined, cwd: string): boolean {
  if (entry === undefined) return false;
  try {
    const { origin, trust } = entry.spec({ cwd });
    return origin !== "project" || trust === "always";
  } catch (error) {
    if (isAdapterError(error)) return false; // It cannot start either.
    throw error;
  }
}
