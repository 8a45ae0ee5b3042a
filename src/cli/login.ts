import { createInterface } from "node:readline";
import type { OAuthAuthorizer } from "../auth/oauth-authorizer.ts";
import { reasonOf } from "../errors.ts";
import { fromProcessFolder } from "../process-folder.ts";
import { quoteText, readable } from "../remote-text.ts";
import type { ServerSpec } from "../server-spec.ts";
import { accountOf } from "./account.ts";
import { assertApproved } from "./approve.ts";
import type { Options } from "./options.ts";
import { specOf } from "./servers.ts";
import { type CommandContext, workingFolder } from "./session.ts";
import type { Terminal } from "./terminal.ts";
import { usage } from "./usage.ts";
import { oneServer } from "./words.ts";

const ISSUER_CHARACTERS = 500;

/** `rpi-mcp login SERVER` */
export async function login(words: readonly string[], { options, terminal, signal }: CommandContext): Promise<number> {
  const spec = await targetOf("login", words, options);
  const account = await accountOf(spec);
  if (options.trust !== true) await assertApproved(spec, terminal, signal);
  const { OAuthAuthorizer } = await import("../auth/oauth-authorizer.ts");
  const { signInState } = await import("../auth/account.ts");
  const withdrawn = new AbortController();
  const authorizer = new OAuthAuthorizer({
    ...account,
    openUrl: async (url) => {
      await show(url, options, terminal);
      takePasted(authorizer, terminal, withdrawn.signal, options);
    },
    onWaiting: (host) => terminal.note(`Waiting for the sign-in at ${host} ... (Ctrl-C gives up)`),
  });
  try {
    await authorizer.signIn(signal);
  } finally {
    withdrawn.abort();
  }
  const state = await signInState(account);
  if (options.json === true) await terminal.json(state);
  else
    await terminal.print(
      `Signed in to ${account.server}${state.issuer === undefined ? "" : ` at ${quoteText(state.issuer, ISSUER_CHARACTERS)}`}.`,
    );
  const { problem } = state.store;
  if (problem === undefined) return 0;
  terminal.note(`The sign-in lasts only as long as this command: ${problem}.`);
  return 1;
}

/** `rpi-mcp logout SERVER` */
export async function logout(words: readonly string[], { options, terminal, signal }: CommandContext): Promise<number> {
  const account = await accountOf(await targetOf("logout", words, options));
  const { logout: forget } = await import("../auth/account.ts");
  const { ended, revoked } = await terminal.busy("Signing out", () => forget(account, signal));
  if (options.json === true) await terminal.json({ server: account.server, ended, revoked });
  else if (ended === 0) await terminal.print(`There was no sign-in to ${account.server}.`);
  else
    await terminal.print(
      `Signed out of ${account.server}.${revoked < ended ? " Its server was not told, or has no way to be told." : ""}`,
    );
  return 0;
}

async function targetOf(command: string, words: readonly string[], options: Options): Promise<ServerSpec> {
  if (options.header !== undefined) throw usage(`${command} takes no --header`);
  const server = oneServer(command, words, options);
  // Names of servers have no colon: an address, as the errors show it, can stand in their place.
  const url = options.url ?? (server !== undefined && /^https?:/i.test(server) ? server : undefined);
  if (url !== undefined) {
    const { specForUrl } = await import("../config/url-target.ts");
    return specForUrl(url);
  }
  const { config } = options;
  return specOf(server ?? "", {
    cwd: workingFolder(options),
    configPath: config === undefined ? undefined : fromProcessFolder(config),
  });
}

async function show(url: string, options: Options, terminal: Terminal): Promise<void> {
  if (options.browser === false) {
    const end = new URL(url).searchParams.get("redirect_uri") ?? "";
    terminal.note(
      `Open this address, and sign in:\n\n  ${url}\n\nOn another machine, paste the address it ends at (it begins with ${end}) here:`,
    );
    return;
  }
  terminal.note(`The browser opens. If it does not, open this address yourself:\n\n  ${url}\n`);
  const { openInBrowser } = await import("./browser.ts");
  const instead = takesPasted(terminal, options)
    ? "Paste the address it ends at here:"
    : "With --no-browser the address that the sign-in ends at is taken from stdin.";
  await openInBrowser(url).catch(() => terminal.note(`No browser could be started. ${instead}`));
}

/** Whether the callback address may be pasted: at a terminal, or with `--no-browser`. Any other stdin may be meant for something else. */
function takesPasted(terminal: Terminal, { browser }: Options): boolean {
  return browser === false || terminal.interactive;
}

/** Takes the address from a person whose browser runs elsewhere; the callback itself may still come first. */
function takePasted(authorizer: OAuthAuthorizer, terminal: Terminal, withdrawn: AbortSignal, options: Options): void {
  if (!takesPasted(terminal, options)) return;
  const reader = createInterface({ input: process.stdin });
  withdrawn.addEventListener("abort", () => reader.close(), { once: true });
  if (withdrawn.aborted) reader.close();
  reader.on("line", (line) => {
    if (line.trim() === "") return;
    try {
      authorizer.completeFromPastedUrl(line);
    } catch (error) {
      terminal.note(readable(reasonOf(error)));
    }
  });
}
