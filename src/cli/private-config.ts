import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";
import { shellLine } from "../command-line.ts";
import { literal } from "../config/expand.ts";
import { maskedUrl } from "../config/written-secrets.ts";
import { ENTRY_WORDS } from "../messages.ts";
import { StepError } from "../plugin/drive.ts";
import { fromProcessFolder } from "../process-folder.ts";
import { realPathOrItself } from "../real-path.ts";

/** A temporary config file for a server given on the command line, since the tools' parameters have no place for headers or a program. */
export interface PrivateConfig {
  readonly configPath: string;
  readonly server: string;
  /** The failure with references to this temporary file removed, since the person does not know it. */
  retold(error: unknown): unknown;
  remove(): Promise<void>;
}

interface Written {
  readonly server: string;
  readonly entry: object;
  /** What a login names in place of server and file. */
  readonly login: string;
}

/** A remote server with its headers; variables stay unexpanded in them. */
export function writeRemote(url: string, headers: readonly string[]): Promise<PrivateConfig> {
  const server = serverName(URL.canParse(url) ? new URL(url).host : "", "url");
  const entry = { url: literal(url), headers: Object.fromEntries(headers.map(split)) };
  return write({ server, entry, login: shellLine([maskedUrl(url)]) });
}

/** A program; the shell has expanded what was to be expanded. */
export function writeProgram([command = "", ...args]: readonly string[]): Promise<PrivateConfig> {
  const server = serverName(basename(command).replace(/\.\w+$/, ""), "program");
  // Where the person is, which is where a shell would have looked.
  const file = command.includes("/") || command.includes(sep) ? fromProcessFolder(command) : command;
  return write({ server, entry: { command: literal(file), args: args.map(literal) }, login: server });
}

/** It may hold a secret: on Windows, where a scanner may hold it for a moment, it is tried again. */
const REMOVE = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 } as const;

/** What a person reads who wrote no entry, but a command line. */
const COMMAND_LINE_WORDS: Readonly<Record<keyof typeof ENTRY_WORDS, string>> = {
  command: "Check its name, and PATH.",
  args: "The program and its arguments are separate words: leave out the quotes around them.",
};

function withoutEntry(said: string): string {
  const { command, args } = COMMAND_LINE_WORDS;
  return said.replace(ENTRY_WORDS.command, command).replace(ENTRY_WORDS.args, args);
}

/** Readable by nobody else. */
async function write({ server, entry, login }: Written): Promise<PrivateConfig> {
  // Without links, as a failure names it: macOS has one in the way, and Windows may have a short name.
  const folder = realPathOrItself(await mkdtemp(join(tmpdir(), "rpi-mcp-cli-")));
  const onExit = (): void => rmSync(folder, REMOVE);
  process.on("exit", onExit);
  const configPath = join(folder, "mcp.json");
  await writeFile(configPath, JSON.stringify({ mcpServers: { [server]: entry } }), { mode: 0o600, flag: "wx" });
  const text = (said: string): string =>
    withoutEntry(said)
      .replaceAll(shellLine([server, "--config", configPath]), () => login)
      .replaceAll(` in ${configPath}`, "");
  return {
    configPath,
    server,
    retold: (error) => {
      if (!(error instanceof StepError)) return error;
      const { code, message, details } = error;
      const { hint } = details;
      return new StepError(code, text(message), { ...details, ...(typeof hint === "string" && { hint: text(hint) }) });
    },
    remove: async () => {
      process.off("exit", onExit);
      await rm(folder, REMOVE);
    },
  };
}

function split(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/** For errors: names of servers have few characters to choose from. */
function serverName(text: string, otherwise: string): string {
  return text.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-|-$/g, "") || otherwise;
}
