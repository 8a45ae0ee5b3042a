import type { ApprovalRequest, ServerContext } from "../contract.ts";
import { isAdapterError } from "../errors.ts";
import { Redactor } from "../redactor.ts";
import { quoteText } from "../remote-text.ts";
import { startDenied, startRequest } from "../runtime/approval.ts";
import { isWantedByProject, type ServerSpec } from "../server-spec.ts";
import { startLines } from "../start-lines.ts";
import type { Person } from "./person.ts";
import { specOf, type Where } from "./servers.ts";
import type { Terminal } from "./terminal.ts";

const PATH_CHARACTERS = 500;

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
    if (!isProjects(spec)) return true;
    return asked(person, spec, request, "Start it?", signal);
  };
}

/** For a command that reaches a remote server by itself. @throws AdapterError `denied` */
export async function assertApproved(spec: ServerSpec, terminal: Terminal, signal: AbortSignal): Promise<void> {
  if (!isProjects(spec)) return;
  if (!terminal.interactive) throw startDenied(spec, "untrusted");
  const { Person } = await import("./person.ts");
  const known = new Redactor();
  known.add(spec.secrets);
  const request = startRequest(spec, process.cwd(), known);
  if (await asked(new Person(terminal), spec, request, "Sign in to it?", signal)) return;
  throw startDenied(spec, "refused");
}

/** Whether only a project's own files want the server started, and the user has not said that projects are trusted. */
function isProjects(spec: ServerSpec): boolean {
  return spec.trust !== "always" && isWantedByProject(spec);
}

function asked(
  person: Person,
  { name, configPath = "", enabledBy = configPath }: ServerSpec,
  request: ApprovalRequest,
  prompt: string,
  signal: AbortSignal,
): Promise<boolean> {
  const lines = startLines(request).map((line) => `\n  ${line}`);
  const text = `Server "${name}" is wanted by this project's own file ${quoteText(enabledBy, PATH_CHARACTERS)}:${lines.join("")}`;
  return person.alone(() => person.agrees({ text, prompt: `${prompt} [y/N] `, signal }));
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
