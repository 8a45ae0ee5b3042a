import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";
import { literal } from "../config/expand.ts";
import { fromProcessFolder } from "../process-folder.ts";

/** A config file for one run, with what the command line says of a server and the tools' parameters cannot say. */
export interface PrivateConfig {
  readonly configPath: string;
  readonly server: string;
  remove(): Promise<void>;
}

/** A remote server with its headers; variables stay unexpanded in them. */
export function writeRemote(url: string, headers: readonly string[]): Promise<PrivateConfig> {
  const host = URL.canParse(url) ? new URL(url).host : "";
  return write(serverName(host, "url"), { url: literal(url), headers: Object.fromEntries(headers.map(split)) });
}

/** A program; the shell has expanded what was to be expanded. */
export function writeProgram([command = "", ...args]: readonly string[]): Promise<PrivateConfig> {
  const name = serverName(basename(command).replace(/\.\w+$/, ""), "program");
  // Where the person is, which is where a shell would have looked.
  const file = command.includes("/") || command.includes(sep) ? fromProcessFolder(command) : command;
  return write(name, { command: literal(file), args: args.map(literal) });
}

/** Readable by nobody else. */
async function write(server: string, entry: object): Promise<PrivateConfig> {
  const folder = await mkdtemp(join(tmpdir(), "rpi-mcp-cli-"));
  const onExit = (): void => rmSync(folder, { recursive: true, force: true });
  process.on("exit", onExit);
  const configPath = join(folder, "mcp.json");
  await writeFile(configPath, JSON.stringify({ mcpServers: { [server]: entry } }), { mode: 0o600, flag: "wx" });
  return {
    configPath,
    server,
    remove: async () => {
      process.off("exit", onExit);
      await rm(folder, { recursive: true, force: true });
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
