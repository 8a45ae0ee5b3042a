import { shellLine } from "../command-line.ts";
import { type Failure, toFailure } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { MODEL_WORDS } from "../messages.ts";
import { StepError } from "../plugin/drive.ts";
import { readable } from "../remote-text.ts";
import { renderResult, textOf } from "../tools/render.ts";
import { type Options, saysServer } from "./options.ts";
import type { CommandContext } from "./session.ts";

/** What was thrown, as a failure with a code: our own errors and the steps' alike. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof StepError)) return toFailure(error);
  const { code, message, details } = error;
  return { code, message, details };
}

/** 2 for what could not be right from the start, 1 for what went wrong. */
export function statusOf({ code }: Failure): number {
  return code === "invalid_params" ? 2 : 1;
}

/** What a person at a terminal reads in place of the words for a model. */
const OWN_WORDS: Readonly<Record<keyof typeof MODEL_WORDS, string>> = {
  anotherFile: "or name another with --config.",
  refused: "cannot be sent with request: ",
  address: " An address belongs after --url.",
  // What to do instead is told as advice.
  find: "",
  places: "",
  problems: ", which rpi-mcp list names",
  trust: "",
  longer: "",
  handshake:
    "A raw request makes no handshake, which this server may want first: configure it and give its name, or add --header.",
  close: "",
};
const REPLACED = Object.keys(OWN_WORDS) as (keyof typeof MODEL_WORDS)[];

/** The sentence about a failure for a person at a terminal. */
export function sentence({ code, message, details }: Pick<Failure, "code" | "message" | "details">): string {
  if (code === "tool_error") return message;
  // Whoever typed the command knows which of the three tools was called.
  const tool = code === "invalid_params" ? `${String(details["tool"])}: ` : "";
  const said = message.startsWith(tool) ? message.slice(tool.length) : message;
  return REPLACED.reduce((text, words) => text.replace(MODEL_WORDS[words], OWN_WORDS[words]), said);
}

/** Tells a failure on stderr, with what to do next. */
export function tell(failure: Failure, { terminal, options }: Pick<CommandContext, "terminal" | "options">): void {
  if (options.json === true) {
    terminal.note(JSON.stringify({ error: failure }));
    return;
  }
  const { code } = failure;
  const hint = advice(failure, options);
  const head = terminal.styleNote("red", code === "tool_error" ? "The tool failed:" : `Error (${code}):`);
  terminal.note(`${head} ${readable(wholeMessage(failure))}`);
  if (hint !== undefined) terminal.note(terminal.styleNote("dim", hint));
}

/** The text of a failed tool without the cut that is made for a model. */
function wholeMessage(failure: Failure): string {
  const { code, message, details } = failure;
  if (code !== "tool_error" || details["mcpResult"] === undefined) return sentence(failure);
  return textOf(renderResult(details["mcpResult"], LIMITS)) || message;
}

/** What a person at a terminal can do about a failure, where the message alone does not say it. */
export function advice(
  { code, details }: Pick<Failure, "code" | "details">,
  options: Options = {},
): string | undefined {
  switch (code) {
    case "tool_error":
      if (typeof details["signIn"] === "string") return `It wants a sign-in. ${details["signIn"]}`;
      return typeof details["takes"] === "string" ? `It takes: ${readable(details["takes"])}` : undefined;
    case "denied":
      if (details["reason"] !== "untrusted") return undefined;
      // Of a server that a project only enables no file says both how it starts and that it may.
      return `If you trust this project, add --trust, or for good "trust": "always" in ~/.config/mcp/mcp.json${details["enabledBy"] === undefined ? "; or name the file with --config" : ""}.`;
    case "server_not_found":
      return options.config === undefined
        ? "rpi-mcp list shows the configured servers; rpi-mcp import finds those of other tools."
        : `${shellLine(["rpi-mcp", "list", "--config", options.config])} shows the servers in it.`;
    case "tool_not_found":
      return `${listing(details, options)} shows its tools.`;
    case "auth_required":
      // A sign-in that failed says itself what to do, and where the login would help the message says so, too.
      if (details["reason"] !== undefined) return undefined;
      return `A token can also go in ${options.url === undefined ? "the headers of its entry" : "--header"}.`;
    case "timeout":
      return `Give it longer with --timeout SECONDS${saysServer(options) ? "" : ', or with "timeout" in its entry'}.`;
    case "invalid_params":
      return SAYS_ENOUGH.some((fact) => details[fact] !== undefined)
        ? undefined
        : "rpi-mcp --help, or rpi-mcp COMMAND --help, tells how.";
    default:
      return undefined;
  }
}

/** What the help knows nothing about, or the message says itself. */
const SAYS_ENOUGH = ["tool", "hint", "server", "method"] as const;

/** The command that lists the server in question. */
function listing({ server }: Failure["details"], { url, program, config }: Options): string {
  if (program !== undefined) return "rpi-mcp list -- PROGRAM";
  if (url !== undefined || typeof server !== "string") return "rpi-mcp list --url URL";
  return shellLine(["rpi-mcp", "list", server, ...(config === undefined ? [] : ["--config", config])]);
}
