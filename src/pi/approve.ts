import { openJson } from "../command-line.ts";
import type { ApprovalRequest, HostServices } from "../contract.ts";
import { quoteOpenly } from "../remote-text.ts";
import { startLines } from "../start-lines.ts";
import type { Dialogs } from "./dialogs.ts";

const NAME_CHARACTERS = 200;
const ARGUMENTS_CHARACTERS = 1000;
const YES = "Yes";
const FROM_NOW_ON = "Yes, and every later call of this tool in this session";
const NO = "No";

/** What a person has allowed of the servers of one name. */
interface Named {
  /** Entries of that name that were started: a call does not say which of them it is for. */
  entries: number;
  /** Each tool, as it was described when it was allowed. */
  readonly tools: Set<string>;
}

/** Asks a person before a server starts, and before a call; at a terminal a call can be allowed for the rest of the session. */
export function approve(dialogs: Dialogs): NonNullable<HostServices["approve"]> {
  const names = new Map<string, Named>();
  return async (request, { signal }) => {
    const { server, action, tool, annotations } = request;
    const named = names.get(server) ?? { entries: 0, tools: new Set() };
    names.set(server, named);
    if (action === "start") {
      const { title, message } = startQuestion(request);
      const isAllowed = await dialogs.converse(signal, false, () => dialogs.confirm(title, message, signal));
      named.tools.clear();
      if (isAllowed) named.entries++;
      return isAllowed;
    }
    const described = JSON.stringify([tool, annotations]);
    if (named.tools.has(described)) return true;
    return dialogs.converse(signal, false, async () => {
      // By the answer about another call, for which this one has waited.
      if (named.tools.has(described)) return true;
      const { title, message } = callQuestion(request);
      if (!dialogs.atTerminal || named.entries > 1) return dialogs.confirm(title, message, signal);
      const answer = await dialogs.select(`${title}\n${message}`, [YES, FROM_NOW_ON, NO], signal);
      if (answer === FROM_NOW_ON && named.entries <= 1) named.tools.add(described);
      return answer === YES || answer === FROM_NOW_ON;
    });
  };
}

interface Question {
  readonly title: string;
  readonly message: string;
}

function startQuestion(request: ApprovalRequest): Question {
  const { server, url, configPath } = request;
  const from = configPath === undefined ? [] : [`Configured in ${configPath}`];
  const verb = url === undefined ? "Start" : "Connect to";
  return {
    title: `${verb} the MCP server ${JSON.stringify(server)}?`,
    message: [...startLines(request), ...from].join("\n"),
  };
}

function callQuestion({ server, tool, arguments: args, annotations }: ApprovalRequest): Question {
  const hints = annotations as { destructiveHint?: unknown; readOnlyHint?: unknown } | undefined;
  const hint =
    hints?.readOnlyHint === true
      ? "\nThe server says that it only reads."
      : hints?.destructiveHint === true
        ? "\nThe server says that it may destroy data."
        : "";
  return {
    title: `Call ${quoteOpenly(openJson(tool ?? ""), NAME_CHARACTERS)} of the MCP server ${JSON.stringify(server)}?`,
    message: `${quoteOpenly(openJson(args ?? {}), ARGUMENTS_CHARACTERS)}${hint}`,
  };
}
