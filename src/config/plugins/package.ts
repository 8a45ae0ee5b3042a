import { join } from "node:path";
import { AdapterError, isAdapterError, reasonOf } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import { quote } from "../../messages.ts";
import { isObject } from "../../protocol/jsonrpc.ts";
import { realPath } from "../../real-path.ts";
import type { Candidate, ConfigProblem } from "../candidate.ts";
import type { Files, Tracked } from "../files.ts";
import type { Json } from "../json.ts";
import { parseStrictJson } from "../json.ts";
import { PlainNames } from "../names.ts";
import type { Place } from "../place.ts";
import { refusal } from "../refuse.ts";
import { isInside } from "./contain.ts";
import { readManifest } from "./manifest.ts";
import { type PluginFolders, readPluginServer } from "./server.ts";

const SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

export interface PluginPackage {
  /** Every file that was looked for, with the version that was read. */
  readonly tracked: Tracked;
  /** Its `mcp.json`, if that could be read. */
  readonly file?: string;
  /** Whether every user of the machine may change its servers. */
  readonly worldWritable: boolean;
  readonly candidates: readonly Omit<Candidate, "origin">[];
  readonly problems: readonly ConfigProblem[];
}

/** Reads the MCP servers of an Agent Plugins 1.0.0 package. What is wrong with it is a problem and hides nothing else. */
export async function readPlugin(folder: string, place: Place, files: Files, limits: Limits): Promise<PluginPackage> {
  const paths = { manifest: join(folder, "plugin.json"), servers: join(folder, "mcp.json") };
  const format = { maxBytes: limits.configBytes, parse: parseStrictJson };
  // Both are read whatever happens, so that a change of either is noticed.
  const { file: manifestFile, version: first } = await files.read(paths.manifest, format);
  const { file: serversFile, version: second } = await files.read(paths.servers, format);
  const known = {
    tracked: new Map([[paths.manifest, first] as const, [paths.servers, second] as const]),
    worldWritable: serversFile?.worldWritable === true,
  };
  const problems: ConfigProblem[] = [];
  try {
    if (manifestFile === undefined) throw shape(paths.manifest, "is missing, so its folder is not a plugin");
    const root = realRoot(folder, manifestFile.path);
    for (const file of [manifestFile, serversFile]) {
      if (file?.error !== undefined) throw file.error;
      if (file !== undefined && !isInside(root, file.path)) throw shape(file.path, `lies outside the plugin ${root}`);
    }
    const { name, notes } = readManifest(manifestFile.value, manifestFile.path);
    problems.push(...notes.map((error) => ({ configPath: manifestFile.path, error })));
    if (serversFile === undefined) return { ...known, candidates: [], problems };
    const servers = serversOf(serversFile.value, serversFile.path);
    const folders = { root, data: await dataFolder(name, root, place) };
    const { path: file } = serversFile;
    return { ...known, file, candidates: candidatesOf(servers, file, folders), problems };
  } catch (error) {
    if (!isAdapterError(error)) throw error;
    return { ...known, candidates: [], problems: [...problems, { configPath: paths.manifest, error }] };
  }
}

function realRoot(folder: string, manifest: string): string {
  try {
    return realPath(folder);
  } catch (error) {
    throw new AdapterError("config.unreadable", { configPath: manifest, reason: reasonOf(error) });
  }
}

/** Section 7.2.1: exactly these two fields. */
function serversOf(value: unknown, configPath: string): Json {
  if (!isObject(value)) throw shape(configPath, "must be an object");
  if (value.$schema !== SCHEMA) throw shape(configPath, `$schema must be "${SCHEMA}", as in plugin.json`);
  for (const key of Object.keys(value)) {
    if (key !== "$schema" && key !== "mcpServers") throw shape(configPath, `${quote(key)} is not known`);
  }
  if (!isObject(value.mcpServers)) throw shape(configPath, "mcpServers must be an object of servers by name");
  return value.mcpServers;
}

function candidatesOf(servers: Json, configPath: string, folders: PluginFolders): readonly Omit<Candidate, "origin">[] {
  const names = new PlainNames();
  return Object.entries(servers).map(([written, value]) => {
    const name = names.of(written);
    const known = { name, configPath };
    try {
      const raw = readPluginServer(value, folders, refusal({ server: name, configPath }));
      return { ...known, raw, ...(raw.type === "stdio" ? { dataFolder: folders.data } : {}) };
    } catch (error) {
      if (!isAdapterError(error)) throw error;
      return { ...known, raw: {}, refused: error };
    }
  });
}

/** Section 9.1: one folder for each installed plugin, kept over its updates. */
async function dataFolder(name: string, root: string, { dataHome }: Place): Promise<string> {
  const { createHash } = await import("node:crypto");
  const which = createHash("sha256").update(root).digest("hex").slice(0, 12);
  return join(dataHome, "rpi-mcp-adapter", "plugins", `${name}-${which}`);
}

function shape(configPath: string, reason: string): AdapterError {
  return new AdapterError("config.shape", { configPath, reason });
}
