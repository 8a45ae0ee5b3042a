import { commandLine } from "../command-line.ts";
import type { ApprovalRequest, ServerContext } from "../contract.ts";
import { isAdapterError } from "../errors.ts";
import { isWantedByProject, type ServerSpec } from "../server-spec.ts";
import type { Person } from "./person.ts";
import { specOf, type Where } from "./servers.ts";
import { oneLine } from "./terminal.ts";

const SHOWN_CHARACTERS = 500;

/**
 * Asks before a server of a project's own files is started. What the person configured or typed is not asked about, and
 * neither are calls: they were typed, too. `named` is the config file of the call in progress, if one was named.
 */
export function approver(
  named: () => string | undefined,
  person: Person,
): (request: ApprovalRequest, context: ServerContext) => Promise<boolean> {
  return async (request, { cwd = process.cwd(), signal }) => {
    if (request.action === "call" || request.configPath === undefined) return true;
    // A named file is the person's word, but what it imports from a project's files is not.
    const spec = await specIn(request.server, { cwd, configPath: named() });
    if (spec === undefined) return false;
    if (spec.trust === "always" || !isWantedByProject(spec)) return true;
    const what = request.url ?? commandLine(request.command ?? "", request.args);
    const text = [
      `Server "${request.server}" is wanted by this project's own file ${shown(spec.enabledBy ?? spec.configPath ?? "")}:`,
      `  ${shown(what)}`,
    ].join("\n");
    return person.alone(() => person.agrees({ text, prompt: "Start it? [y/N] ", signal }));
  };
}

/** Nothing where the entry is gone or broken: then it cannot start either. */
async function specIn(server: string, where: Where): Promise<ServerSpec | undefined> {
  try {
    return await specOf(server, where);
  } catch (error) {
    if (isAdapterError(error)) return undefined;
    throw error;
  }
}

function shown(text: string): string {
  return oneLine(text, SHOWN_CHARACTERS);
}
