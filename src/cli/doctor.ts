import type { ErrorCode } from "../contract.ts";
import { defined } from "../defined.ts";
import type { Failure } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { quoteText, readable } from "../remote-text.ts";
import { advice, sentence } from "./failure.ts";
import { type CommandContext, type Session, withSession } from "./session.ts";
import { sourceOf } from "./source.ts";
import { type Survey, type Surveyed, survey } from "./survey.ts";
import type { Terminal } from "./terminal.ts";
import { usage } from "./usage.ts";

const NAME_CHARACTERS = 120;

type Examined = Surveyed & { readonly advice?: string; readonly signIn?: SignIn };

interface SignIn {
  readonly state: string;
  readonly issuer?: string;
  readonly expiresAt?: string;
}

/** `rpi-mcp doctor`: 1 if any enabled server, or a config file as a whole, fails. */
export async function doctor(words: readonly string[], context: CommandContext): Promise<number> {
  if (words.length > 0) throw usage("doctor takes no words; it checks every configured server");
  const { options, terminal } = context;
  return withSession(context, async (session) => {
    const { servers: surveyed, problems } = await terminal.busy("Checking", (update) => survey(session, update));
    const servers = await Promise.all(surveyed.map((each) => withAdvice(each, session)));
    const ok = servers.every(({ state }) => state !== "failed") && !problems.some(({ serious }) => serious);
    if (options.json === true) await terminal.json({ ok, servers, problems });
    else await terminal.print(report(servers, problems, session.cwd, terminal));
    return ok ? 0 : 1;
  });
}

async function withAdvice(surveyed: Surveyed, session: Session): Promise<Examined> {
  const { error, transport, server, enabled } = surveyed;
  const signIn =
    enabled && error?.code !== "config_error" && transport !== "stdio" ? await signInOf(server, session) : undefined;
  return {
    ...surveyed,
    ...defined({ signIn, advice: error && (advice(error) ?? adviceFor(error, transport)) }),
  };
}

/** Nothing where nobody ever signed in. */
async function signInOf(server: string, session: Session): Promise<SignIn | undefined> {
  const { configPath } = session;
  const { storedSignIn } = await import("./account.ts");
  try {
    const { state, issuer, expiresAt } = await storedSignIn(server, { cwd: session.cwd, configPath });
    if (state === "signed_out") return undefined;
    return { state, ...defined({ issuer, expiresAt }) };
  } catch {
    return undefined; // A store or an entry that cannot be read is told by the failure of the server itself.
  }
}

function adviceFor({ code, details }: Pick<Failure, "code" | "details">, transport: string): string {
  switch (code) {
    case "connect_failed":
    case "closed":
      if (details["rpcError"] !== undefined) return "Do what the server says; keys go in its entry.";
      if (transport !== "stdio") return "Check that the server runs, and its address.";
      return details["stderr"] === undefined ? BY_HAND : `Read its stderr above. ${BY_HAND}`;
    case "config_error":
      return details["variable"] === undefined ? CORRECT : "Set the variable where rpi-mcp runs, or correct the entry.";
    case "spawn_failed":
      return details["cwd"] === undefined ? INSTALL : 'Correct "cwd" in its entry.';
    case "unsupported_protocol":
      return isPinned(details) ? 'Update the server, or remove "protocol" from its entry.' : "Update the server.";
    case "http_error":
      return isBusy(details) ? "Try again later, or ask whoever runs the server." : ENDPOINT;
    default:
      return ADVICE[code] ?? "Try again.";
  }
}

function isPinned({ supported }: Failure["details"]): boolean {
  return Array.isArray(supported) && supported.length === 1;
}

function isBusy({ status }: Failure["details"]): boolean {
  return typeof status === "number" && (status === 429 || status >= 500);
}

const CORRECT = "Correct the entry in its file.";
const BY_HAND = "Run the command by hand to see why it ends.";
const INSTALL = 'Install the program, or correct "command" in its entry; an absolute path always works.';
const ENDPOINT = "Check the address: it must be the MCP endpoint of the server (often /mcp).";

/** What to do about a server that could not be listed, by the kind of failure. */
const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  auth_required: "Sign in with rpi-mcp login, unless the message says otherwise.",
  rpc_error: "Update the server, or report this to its authors.",
  protocol_error: "Check that the command starts an MCP server, or that the address is its MCP endpoint (often /mcp).",
  limit_exceeded: "Report this to the authors of the server.",
  denied: "Approve it, or add --trust if you trust this project.",
  internal: "Please report it.",
};

function report(servers: readonly Examined[], problems: Survey["problems"], cwd: string, terminal: Terminal): string {
  const lines = servers.flatMap((each) => about(each, cwd, terminal));
  for (const { serious, error } of problems) {
    lines.push(`${mark(serious ? "failed" : "warning", terminal)} ${quoteText(error.message, 1000)}`);
  }
  const count = (state: Surveyed["state"]): number => servers.filter((each) => each.state === state).length;
  const broken = problems.filter(({ serious }) => serious).length;
  const files = broken === 0 ? "" : `; config files: ${broken} failed`;
  if (servers.length === 0) lines.push("No server is configured. rpi-mcp import finds those of other tools.");
  else lines.push("", `${count("ok")} fine, ${count("failed")} failed, ${count("disabled")} disabled${files}`);
  return lines.join("\n");
}

function about(each: Examined, cwd: string, terminal: Terminal): string[] {
  const { server, transport, configPath, state, serverInfo, protocolVersion, tools, milliseconds, error, signIn } =
    each;
  const { name = "", version = "" } = isObject(serverInfo) ? serverInfo : {};
  const facts = [
    transport,
    sourceOf(configPath, cwd),
    state === "disabled" ? "disabled" : undefined,
    name === "" ? undefined : quoteText(`${String(name)} ${String(version)}`.trim(), NAME_CHARACTERS),
    protocolVersion === undefined ? undefined : `protocol ${quoteText(protocolVersion, 40)}`,
    state === "ok" ? toolsText(tools) : undefined,
    milliseconds === undefined ? undefined : `${milliseconds} ms`,
    signIn === undefined ? undefined : signInText(signIn),
  ];
  const lines = [`${mark(state, terminal)} ${terminal.style("bold", server)}  ${facts.filter(Boolean).join(", ")}`];
  if (error !== undefined) lines.push(indented(`${error.code}: ${readable(sentence(error))}`));
  if (each.advice !== undefined) lines.push(indented(`What to do: ${each.advice}`));
  return lines;
}

function toolsText(tools: number | undefined): string {
  if (tools === undefined) return "no tools";
  return tools === 1 ? "1 tool" : `${tools} tools`;
}

function signInText({ state, issuer, expiresAt }: SignIn): string {
  const where = issuer === undefined ? "" : ` at ${quoteText(issuer, NAME_CHARACTERS)}`;
  return `${state.replace("_", " ")}${where}${expiresAt === undefined ? "" : `, token until ${expiresAt}`}`;
}

function mark(state: Surveyed["state"] | "warning", terminal: Terminal): string {
  if (state === "ok") return terminal.style("green", "ok  ");
  if (state === "failed") return terminal.style("red", "FAIL");
  return state === "warning" ? terminal.style("yellow", "warn") : terminal.style("dim", "off ");
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `       ${line}`)
    .join("\n");
}
