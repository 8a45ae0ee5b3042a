import { commandLine } from "./command-line.ts";
import type { ApprovalRequest } from "./contract.ts";
import { quoteOpenly } from "./remote-text.ts";

const LINE_CHARACTERS = 1000;

/** The lines of the question whether a server may start: the command or URL, then everything that it is given. */
export function startLines({
  command,
  args,
  cwd,
  env,
  url,
  headers,
  oauth,
  variables,
  autoApprove,
}: ApprovalRequest): readonly string[] {
  const lines = [url ?? commandLine(command ?? "", args)];
  if (cwd !== undefined) lines.push(`in ${commandLine(cwd)}`);
  if (env !== undefined) lines.push(`with ${words(env, "=")}`);
  if (headers !== undefined) lines.push(`sending ${words(headers, ": ")}`);
  if (oauth !== undefined) lines.push(`signing in with ${words(oauth, ": ")}`);
  if (variables !== undefined) lines.push(`using your ${variables.map((name) => `$${name}`).join(", ")}`);
  if (autoApprove !== undefined)
    lines.push(`calling without asking: ${autoApprove.map((tool) => commandLine(tool)).join(", ")}`);
  return lines.map((line) => quoteOpenly(line, LINE_CHARACTERS));
}

function words(record: object, between: string, within = ""): string {
  const shown = Object.entries(record).map(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null
      ? words(value, between, `${within}${name}.`)
      : commandLine(`${within}${name}${between}${String(value)}`),
  );
  return shown.join(" ");
}
