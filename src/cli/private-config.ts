import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { literal } from "../config/expand.ts";

/** A config file for one run, since headers can stand in a config file only. */
export interface PrivateConfig {
  readonly configPath: string;
  readonly server: string;
  remove(): Promise<void>;
}

/** Writes one remote server with its headers, readable by nobody else; variables stay unexpanded in it. */
export async function writePrivateConfig(url: string, headers: readonly string[]): Promise<PrivateConfig> {
  const folder = await mkdtemp(join(tmpdir(), "rpi-mcp-headers-"));
  const onExit = (): void => rmSync(folder, { recursive: true, force: true });
  process.on("exit", onExit);
  const configPath = join(folder, "mcp.json");
  const server = serverName(url);
  const entry = { url: literal(url), headers: Object.fromEntries(headers.map(split)) };
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

/** The host of the address, for errors: names of servers have few characters to choose from. */
function serverName(url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : "";
  return host.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-|-$/g, "") || "url";
}
