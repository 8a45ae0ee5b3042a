import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { clock } from "../clock.ts";
import { openJson } from "../command-line.ts";
import type { ApprovalRequest, HostServices } from "../contract.ts";
import { quoteOpenly, quoteText } from "../remote-text.ts";
import { startLines } from "../start-lines.ts";
import type { Dialogs } from "./dialogs.ts";

const ARGUMENTS_CHARACTERS = 1000;
const LOG_CHARACTERS = 500;
/** Log messages shown per minute; a server in trouble repeats itself. */
const LOGS_A_MINUTE = 10;
const MINUTE_MS = 60_000;
const SERIOUS = new Set(["error", "critical", "alert", "emergency"]);

/** What this host can do for servers: what needs a person only where its UI reaches one. */
export function servicesFor(dialogs: Dialogs): HostServices {
  return {
    listRoots: async ({ cwd }) => (cwd === undefined ? [] : [{ uri: pathToFileURL(cwd).href, name: basename(cwd) }]),
    ...(dialogs.has("confirm") ? { approve: approve(dialogs), openUrl: openUrl(dialogs) } : {}),
    ...(dialogs.has("confirm") && dialogs.has("select") && dialogs.has("input") ? { elicit: elicit(dialogs) } : {}),
    ...(dialogs.has("notify") ? { log: log(dialogs) } : {}),
  };
}

function approve(dialogs: Dialogs): NonNullable<HostServices["approve"]> {
  return (request, { signal }) =>
    dialogs.converse(signal, false, () => {
      const { title, message } = request.action === "start" ? startQuestion(request) : callQuestion(request);
      return dialogs.confirm(title, message, signal);
    });
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
    title: `Call ${JSON.stringify(tool)} of the MCP server ${JSON.stringify(server)}?`,
    message: `${quoteOpenly(openJson(args ?? {}), ARGUMENTS_CHARACTERS)}${hint}`,
  };
}

function openUrl(dialogs: Dialogs): NonNullable<HostServices["openUrl"]> {
  return async (url, { server }) => {
    dialogs.notify(
      `The MCP server ${JSON.stringify(server)} needs you to sign in. If no browser opens, visit:\n${url}`,
      "info",
    );
    const { openInBrowser } = await import("./browser.ts");
    await openInBrowser(url);
  };
}

function elicit(dialogs: Dialogs): NonNullable<HostServices["elicit"]> {
  return (params, { server, signal }) =>
    dialogs.converse(signal, { action: "cancel" as const }, async () => {
      const { askPerson } = await import("./form.ts");
      return askPerson(params, { server, dialogs, signal });
    });
}

function log(dialogs: Dialogs): NonNullable<HostServices["log"]> {
  let shown = 0;
  let since = 0;
  return ({ level, server, message }) => {
    if (level !== "warning" && !SERIOUS.has(level)) return;
    const now = clock.now();
    if (shown === 0 || now - since > MINUTE_MS) [shown, since] = [0, now];
    if (++shown > LOGS_A_MINUTE) return;
    dialogs.notify(
      `MCP server ${JSON.stringify(server)}: ${quoteText(message, LOG_CHARACTERS)}`,
      SERIOUS.has(level) ? "error" : "warning",
    );
  };
}
