import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { LIMITS } from "../limits.ts";
import { VERSION } from "../version.ts";
import type { CommandName, Invocation, Options } from "./options.ts";

/** Text for stdout and stderr where the command line asks for help or cannot be understood. */
export interface Told {
  readonly out: string;
  readonly err: string;
  readonly status: number;
}

const USAGE_ERROR = 2;
const HELP = "Try: rpi-mcp --help";
/** For these, what follows `--` is a program to start; for others, words that are no options. */
const TAKE_PROGRAM: ReadonlySet<CommandName> = new Set(["list", "call", "request"]);
const HEAD = "Error (invalid_params): ";

/** Reads a command line. Prints nothing and ends nothing by itself. */
export function parseCommandLine(argv: readonly string[]): Invocation | Told {
  const end = argv.indexOf("--");
  if (end < 0) return parse(argv);
  const before = parse(argv.slice(0, end));
  if (!("command" in before) || !TAKE_PROGRAM.has(before.command)) return parse(argv);
  return { ...before, options: { ...before.options, program: argv.slice(end + 1) } };
}

function parse(argv: readonly string[]): Invocation | Told {
  let out = "";
  let err = "";
  let invocation: Invocation | undefined;
  const [first, topic] = argv;
  const program = new Command("rpi-mcp")
    .description("Use MCP servers from a shell: list what they offer, call their tools, check that they work.")
    .usage("COMMAND [OPTIONS] [ARGUMENTS...]")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help, or that of a command")
    .helpCommand("help [COMMAND]", "print the help of a command")
    .exitOverride()
    .configureHelp({
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage()}`.replace("[OPTIONS]", "").trim().replace(/ +/g, " "),
    })
    .configureOutput({
      writeOut: (text) => {
        out += text;
      },
      writeErr: (text) => {
        err += text;
      },
      // As every other failure is told.
      outputError: (text, write) =>
        write(text.replace(/^error: (.)/, (_, first: string) => `${HEAD}${first.toUpperCase()}`)),
    })
    .showHelpAfterError(
      `${ELSEWHERE.test(first ?? "") ? WRITTEN : ""}Commands: ${COMMANDS.map(({ name }) => name).join(", ")}.\n${HELP}`,
    )
    .addHelpText("after", EXAMPLES);
  for (const option of sharedOptions()) program.addOption(option);
  for (const each of COMMANDS) {
    const command = program
      .command(each.name)
      .usage(`[OPTIONS] ${each.usage}`.trimEnd())
      .summary(each.summary)
      .description(each.description)
      .helpOption("-h, --help", "print this help")
      .showHelpAfterError(`${each.onError ?? ""}${HELP}`)
      .addHelpText("after", `\nExample:\n  rpi-mcp ${each.example}`);
    if (each.usage !== "") command.argument("[words...]");
    for (const option of each.options?.() ?? []) command.addOption(option);
    command.action(() => {
      invocation = { command: each.name, words: command.args, options: command.optsWithGlobals<Options>() };
    });
    // "words" is how the parser calls them; the usage line has their names.
    command.configureHelp({ visibleArguments: () => [], showGlobalOptions: true });
  }
  // The parser would print its whole help, and not say why.
  const asked = first === "help" && topic !== undefined && !topic.startsWith("-") ? topic : undefined;
  try {
    if (asked !== undefined && asked !== "help" && COMMANDS.every(({ name }) => name !== asked))
      program.error(`error: unknown command '${asked}'`);
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { out, err, status: 0 };
    return { out, err: argv.includes("--json") && err.startsWith(HEAD) ? asJson(err) : err, status: USAGE_ERROR };
  }
  return invocation ?? { out, err, status: USAGE_ERROR };
}

/** As every other failure is told with `--json`. */
function asJson(told: string): string {
  const message = told.slice(HEAD.length).trimEnd();
  return JSON.stringify({ error: { code: "invalid_params", message, details: { reason: message } } });
}

const EXAMPLES = `
Examples:
  rpi-mcp list --all                            every configured server, and whether it starts
  rpi-mcp list github --query "open issues"     the tools that fit these words
  rpi-mcp call github search query=bug limit=5  one tool, with its arguments
  rpi-mcp call --url http://localhost:8931/mcp browser_navigate url=https://example.com
  rpi-mcp list -- npx -y @playwright/mcp        what a program offers, without a config file
  echo '{"tool":"mcp_list","params":{}}' | rpi-mcp run -
`;

interface CommandText {
  readonly name: CommandName;
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly example: string;
  readonly options?: () => readonly Option[];
  /** What to say of a wrong option, before where the help is. */
  readonly onError?: string;
}

const BEHIND_DASHES = "A program with its options goes at the end, after --: rpi-mcp list -- npx -y @playwright/mcp\n";
const NO_DASHES = `What is for the server is written without dashes: key=value, or one JSON object.\n${BEHIND_DASHES}`;

/** Commands by which other programs write servers down. */
const ELSEWHERE = /^(mcp|add|add-json|install|remove)$/;
const WRITTEN = `Servers are configured in a file, such as ~/.config/mcp/mcp.json:
  {"mcpServers": {"NAME": {"command": "npx", "args": ["-y", "PACKAGE"]}, "OTHER": {"url": "https://..."}}}
Without one: rpi-mcp list -- npx -y PACKAGE, or rpi-mcp list --url URL --header "NAME: VALUE".
`;

const COMMANDS: readonly CommandText[] = [
  {
    name: "list",
    usage: "[SERVER]",
    summary: "list the configured servers, or what one server offers",
    example: 'list github --query "open issues"',
    description:
      "List the configured servers, starting none; or, with SERVER, --url or -- PROGRAM, what that server offers.",
    options: () => [
      valued("--query <words>", "only what matches these words best; without SERVER, on all servers"),
      valued("--tool <name>", "one tool in full, with its parameters"),
      new Option("--kind <kind>", "what to list").choices(["tools", "resources", "resource_templates", "prompts"]),
      new Option("--all", "start every enabled server, and count its tools"),
    ],
    onError: BEHIND_DASHES,
  },
  {
    name: "call",
    usage: "SERVER TOOL [ARGUMENTS...]",
    summary: "call one tool",
    example: 'call github search_issues query="is:open crash" limit=5',
    description:
      "Call one tool. ARGUMENTS are one JSON object; or key=value pairs; or - for JSON from stdin; or @FILE for JSON " +
      "from a file. In key=value, a value that is JSON is sent as JSON, unless the tool wants a string there; in key:=value it " +
      "must be JSON. With --url or -- PROGRAM, leave out SERVER.",
    options: () => [valued("--output <file>", "save the image, audio or file in the result")],
    onError: NO_DASHES,
  },
  {
    name: "request",
    usage: "SERVER METHOD [PARAMS...]",
    summary: "send another MCP method, such as resources/read",
    example: "request docs resources/read uri=note://one",
    description:
      "Send a request of any method. PARAMS are written as the arguments of call. With --url or -- PROGRAM, leave out SERVER. " +
      "With --url it is one raw HTTP exchange without a handshake, answered with the whole JSON-RPC response.",
    options: () => [
      new Option("--id <id>", "the id of a raw request").argParser(requestId),
      valued("--output <file>", "save the image, audio or file in the result"),
    ],
    onError: NO_DASHES,
  },
  {
    name: "run",
    usage: "FILE",
    summary: 'run the lines {"tool", "params"} of a file, or of stdin with -, in one session',
    example: "run session.jsonl",
    description:
      'Run JSON lines {"tool": "mcp_list" | "mcp_call" | "mcp_request", "params": {...}} in one session, in order, ' +
      "and answer each with one line of JSON. FILE is - for stdin.",
  },
  {
    name: "doctor",
    usage: "",
    summary: "check every configured server, and say what to do about those that fail",
    example: "doctor --timeout 10",
    description: "Start every configured server, say whether it works, and what to do about those that fail.",
  },
  {
    name: "import",
    usage: "[DIALECT...]",
    summary: "find the servers that other tools have configured",
    example: "import cursor codex --write",
    description:
      "Find the servers that other tools have configured, and show what would be added to our own files. " +
      "DIALECT: claude-code, claude-desktop, cursor, vscode, codex, opencode, windsurf, zed, gemini, copilot, kiro, cline, roo, " +
      "lm-studio. Default: all.",
    options: () => [
      new Option("--write", "add them to ~/.rpi/mcp.json and the project's .rpi/mcp.json, or to --config FILE"),
      new Option("--overwrite", "with --write: replace servers of the same name"),
    ],
  },
  {
    name: "login",
    usage: "SERVER",
    summary: "sign in to a remote server",
    description: "Sign in to a remote server that asks for it, through your browser. With --url, leave out SERVER.",
    example: "login --url https://mcp.example.com/mcp",
    options: () => [new Option("--no-browser", "print the address to open, and read the one it ends at from stdin")],
  },
  {
    name: "logout",
    usage: "SERVER",
    summary: "forget the sign-in to a remote server",
    description: "Forget the sign-in to a remote server. With --url, leave out SERVER.",
    example: "logout github",
  },
];

function sharedOptions(): readonly Option[] {
  return [
    valued("--config <file>", "use only the servers in this file"),
    valued("--url <url>", "use the remote server at this address, instead of SERVER").conflicts("config"),
    new Option("--header <line>", `with --url: send this header, "Name: value"; \${VAR} expands; repeatable`).argParser(
      header,
    ),
    new Option("--json", "print the raw result as JSON"),
    new Option("--timeout <seconds>", "how long to wait for each step, 1 to 300").argParser(seconds),
    new Option("--root <dir>", "tell servers that this folder is theirs to work in; repeatable").argParser(collect),
    new Option("--trust", "start servers of the project's own files without asking"),
    valued("--cwd <dir>", "work in this folder: where project files are looked for and servers start"),
  ];
}

function valued(flags: string, description: string): Option {
  return new Option(flags, description).argParser(something);
}

/** An empty value is a variable that was not set, and would stand for the working directory, or for nothing. */
function something(value: string): string {
  if (value === "") throw new InvalidArgumentError("It must not be empty.");
  return value;
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), something(value)];
}

function header(value: string, before: readonly string[] | undefined): readonly string[] {
  const name = (line: string): string => (/^([^:]*):/.exec(line)?.[1] ?? "").trim().toLowerCase();
  if (name(value) === "") throw new InvalidArgumentError('It must be "Name: value".');
  if (before?.some((line) => name(line) === name(value))) throw new InvalidArgumentError("This header is given twice.");
  return collect(value, before);
}

function seconds(value: string): number {
  const { minTimeoutSeconds: least, maxTimeoutSeconds: most } = LIMITS;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
}

function requestId(value: string): string | number {
  something(value);
  return /^-?\d+$/.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
