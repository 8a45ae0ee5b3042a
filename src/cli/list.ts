import type { AgentToolResult } from "../contract.ts";
import { defined } from "../defined.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { quoteText } from "../remote-text.ts";
import { listText } from "./list-text.ts";
import { saysServer } from "./options.ts";
import { type CommandContext, type Session, withSession } from "./session.ts";
import { sourceOf } from "./source.ts";
import { type Surveyed, survey } from "./survey.ts";
import { table } from "./table.ts";
import { usage } from "./usage.ts";
import { oneServer } from "./words.ts";

const CELL_CHARACTERS = 120;
const NONE =
  'No server is configured. Write {"mcpServers": {...}} to ~/.config/mcp/mcp.json (yours), or to .mcp.json (this project; ' +
  "you are asked before its servers start). rpi-mcp import finds those of other tools.";

/** `rpi-mcp list [SERVER]` */
export async function list(words: readonly string[], context: CommandContext): Promise<number> {
  const { options } = context;
  const server = oneServer("list", words, options, true);
  const { all, query, tool, kind } = options;
  const named = server !== undefined || saysServer(options);
  if (all === true && (named || query !== undefined || tool !== undefined || kind !== undefined)) {
    throw usage("--all lists every server, and nothing can narrow it");
  }
  if (!named && tool !== undefined) throw usage("--tool needs SERVER or --url");
  if (!named && kind !== undefined && query === undefined) throw usage("--kind needs SERVER, --url or --query");
  return withSession(context, async (session) => {
    if (all === true) return listAll(session, context);
    const { terminal } = context;
    const params = {
      ...session.target(server),
      ...defined({ query, tool, kind }),
    };
    const result = await terminal.busy(
      named ? "Listing" : "Searching",
      (update) => session.call({ tool: "mcp_list", params, onPartial: update }),
      options.json !== true,
    );
    if (options.json === true) await terminal.json(result);
    else if (named || query !== undefined) await terminal.print(listText(result.details ?? {}, options, terminal));
    else await printServers(result, session, context);
    return 0;
  });
}

async function printServers(
  { details }: AgentToolResult,
  session: Session,
  { terminal }: CommandContext,
): Promise<void> {
  const servers = Array.isArray(details?.["servers"]) ? details["servers"].filter(isObject) : [];
  const problems = Array.isArray(details?.["problems"]) ? details["problems"].filter(isObject) : [];
  const rows = servers.map(({ server, transport, enabled, configPath, error, runs }) => [
    String(server),
    String(transport),
    error !== undefined ? "broken" : enabled === true ? "enabled" : "disabled",
    sourceOf(configPath, session.cwd),
    quoteText(String(runs ?? ""), CELL_CHARACTERS),
  ]);
  const titles = ["SERVER", "TRANSPORT", "STATE", "SOURCE"].map((title) => ({ title }));
  if (rows.length > 0)
    await terminal.print(head(table([...titles, { title: "RUNS", shrinks: true }], rows, terminal.columns), terminal));
  else terminal.note(NONE);
  for (const { error } of [...servers, ...problems]) {
    if (error !== undefined) terminal.note(terminal.styleNote("yellow", quoteText(String(error), 1000)));
  }
}

async function listAll(session: Session, { options, terminal }: CommandContext): Promise<number> {
  const { servers, problems } = await terminal.busy("Starting", (update) => survey(session, update));
  const failed = servers.some(({ state }) => state === "failed");
  if (options.json === true) {
    await terminal.json({ servers, problems });
    return failed ? 1 : 0;
  }
  const rows = servers.map((each) => [
    each.server,
    each.transport,
    stateOf(each),
    sourceOf(each.configPath, session.cwd),
  ]);
  const titles = ["SERVER", "TRANSPORT", "TOOLS", "SOURCE"].map((title) => ({ title, shrinks: title === "SOURCE" }));
  if (rows.length > 0) await terminal.print(head(table(titles, rows, terminal.columns), terminal));
  else terminal.note("No server is configured. rpi-mcp import finds those of other tools.");
  for (const { error } of [...servers, ...problems])
    if (error !== undefined) terminal.note(terminal.styleNote("yellow", quoteText(error.message, 500)));
  if (failed) terminal.note("rpi-mcp doctor says what to do.");
  return failed ? 1 : 0;
}

function stateOf({ state, tools, error }: Surveyed): string {
  if (state === "disabled") return "disabled";
  if (state === "failed") return `failed: ${error?.code ?? "internal"}`;
  return tools === undefined ? "no tools" : String(tools);
}

function head([title = "", ...rows]: readonly string[], terminal: CommandContext["terminal"]): string {
  return [terminal.style("bold", title), ...rows].join("\n");
}
