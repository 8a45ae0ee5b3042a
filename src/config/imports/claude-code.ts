import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../../protocol/jsonrpc.ts";
import { realPathOrItself } from "../../real-path.ts";
import type { Json } from "../json.ts";
import type { Place } from "../place.ts";
import type { Dialect, ImportedServer } from "./dialect.ts";
import { Draft, serversIn } from "./draft.ts";
import { ours } from "./placeholders.ts";

/**
 * Claude Code: `~/.claude.json` with `mcpServers` for all projects and `projects[path].mcpServers` for one. Its `.mcp.json`
 * is a layer of our own. Its variables are spelled as ours; `timeout` counts milliseconds.
 */
export const claudeCode: Dialect = {
  files: ({ claudeHome }) => [{ path: join(claudeHome, ".claude.json"), level: "user", format: "json" }],
  *servers(document, place) {
    const project = projectOf(document, place);
    const disabled = new Set([project.disabledMcpServers].flat());
    for (const [name, server] of serversIn(document.mcpServers)) yield read(name, server, disabled);
    for (const [name, server] of serversIn(project.mcpServers)) yield read(name, server, disabled);
  },
};

function read(name: string, server: Json, disabled: ReadonlySet<unknown>): ImportedServer {
  const draft = new Draft(server, ours);
  draft.copy("type", "command", "args", "env", "url", "headers", "headersHelper", "oauth").time(server.timeout, 1000);
  return (disabled.has(name) ? draft.put("enabled", false) : draft).as(name);
}

function projectOf({ projects }: Json, { cwd, platform }: Place): Json {
  if (!isObject(projects)) return {};
  const isWindows = platform === "win32";
  const repository = repositoryOf(cwd);
  // The repository it is run in is the project; it once was the folder itself.
  for (const path of new Set([repository, realPathOrItself(repository), cwd, realPathOrItself(cwd)])) {
    // On Windows it writes paths with slashes; other programs, and it itself once, with backslashes.
    const names = isWindows ? Object.keys(projects).filter((name) => portable(name) === portable(path)) : [path];
    const name = names.find((each) => !each.includes("\\")) ?? names[0] ?? path;
    const project = Object.hasOwn(projects, name) ? projects[name] : undefined;
    if (isObject(project)) return project;
  }
  return {};
}

/** The folder that holds the repository which a folder is in; the folder itself where it is in none. */
function repositoryOf(path: string): string {
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return path;
  }
}

/** A path on Windows with slashes, and its drive in capitals. */
function portable(path: string): string {
  return path.replaceAll("\\", "/").replace(/^[a-z]:/, (drive) => drive.toUpperCase());
}
