import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { clock } from "../clock.ts";
import type { HostServices } from "../contract.ts";
import { quoteText } from "../remote-text.ts";
import { approve } from "./approve.ts";
import type { Dialogs } from "./dialogs.ts";

const LOG_CHARACTERS = 500;
/** Log messages shown per minute; a server in trouble repeats itself. */
const LOGS_A_MINUTE = 10;
const MINUTE_MS = 60_000;
const SERIOUS = new Set(["error", "critical", "alert", "emergency"]);

/** The services that this host offers: those that ask a person only if its UI has the dialogs for them. */
export function servicesFor(dialogs: Dialogs): HostServices {
  return {
    listRoots: async ({ cwd }) => (cwd === undefined ? [] : [{ uri: pathToFileURL(cwd).href, name: basename(cwd) }]),
    ...(dialogs.has("confirm") ? { approve: approve(dialogs), openUrl: openUrl(dialogs) } : {}),
    ...(dialogs.has("confirm") && dialogs.has("select") && dialogs.has("input") ? { elicit: elicit(dialogs) } : {}),
    ...(dialogs.has("notify") ? { log: log(dialogs) } : {}),
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
