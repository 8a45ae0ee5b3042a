import { AdapterError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import { isObject } from "../../protocol/jsonrpc.ts";
import type { Candidate, ConfigProblem } from "../candidate.ts";
import type { Files, Tracked } from "../files.ts";
import { parseJson } from "../json.ts";
import { PlainNames } from "../names.ts";
import type { Place } from "../place.ts";
import { parseToml } from "../toml.ts";
import type { Dialect, DialectFile } from "./dialect.ts";

/** One file of another tool that exists. */
export interface ImportedFile {
  readonly path: string;
  readonly level: DialectFile["level"];
  readonly worldWritable: boolean;
  /** Its servers in our own format; `origin` is the file's level. */
  readonly candidates: readonly Candidate[];
  /** Why nothing of it can be used. */
  readonly problems: readonly ConfigProblem[];
}

export interface ImportedDialect {
  /** Every file that was looked for, with the version that was read. */
  readonly tracked: Tracked;
  readonly files: readonly ImportedFile[];
}

const LOADERS: Readonly<Record<string, () => Promise<Dialect>>> = {
  "claude-code": async () => (await import("./claude-code.ts")).claudeCode,
  "claude-desktop": async () => (await import("./claude-desktop.ts")).claudeDesktop,
  cursor: async () => (await import("./cursor.ts")).cursor,
  vscode: async () => (await import("./vscode.ts")).vscode,
  codex: async () => (await import("./codex.ts")).codex,
  opencode: async () => (await import("./opencode.ts")).opencode,
  windsurf: async () => (await import("./windsurf.ts")).windsurf,
  zed: async () => (await import("./zed.ts")).zed,
  gemini: async () => (await import("./gemini.ts")).gemini,
};

/** The names that `imports` may hold. */
export const DIALECTS: readonly string[] = Object.keys(LOADERS);

/** Reads what another tool has configured; nothing for an unknown name. Missing files are no problem. */
export async function readDialect(
  name: string,
  place: Place,
  files: Files,
  limits: Limits,
): Promise<ImportedDialect | undefined> {
  if (!Object.hasOwn(LOADERS, name)) return undefined;
  const dialect = await LOADERS[name]?.();
  if (dialect === undefined) return undefined;
  const tracked = new Map<string, number>();
  const found: ImportedFile[] = [];
  for (const file of dialect.files(place)) {
    const parse = file.format === "toml" ? parseToml : parseJson;
    const maxBytes = file.level === "project" ? limits.configBytes : limits.importBytes;
    const { file: read, version } = await files.read(file.path, { maxBytes, parse });
    tracked.set(file.path, version);
    if (read === undefined) continue;
    const { path, worldWritable, value, error } = read;
    const known = { path, level: file.level, worldWritable };
    if (error !== undefined) found.push({ ...known, candidates: [], problems: [{ configPath: path, error }] });
    else found.push({ ...known, ...translate(dialect, value, place, path, file.level) });
  }
  return { tracked, files: found };
}

function translate(
  dialect: Dialect,
  value: unknown,
  place: Place,
  configPath: string,
  origin: DialectFile["level"],
): Pick<ImportedFile, "candidates" | "problems"> {
  if (!isObject(value)) {
    const error = new AdapterError("config.shape", { configPath, reason: "must be an object" });
    return { candidates: [], problems: [{ configPath, error }] };
  }
  const candidates: Candidate[] = [];
  const names = new PlainNames();
  for (const { name: written, raw, flaw } of dialect.servers(value, place)) {
    const name = names.of(written);
    const refused = flaw && new AdapterError("config.entry", { server: name, configPath, ...flaw });
    candidates.push({ name, raw, configPath, origin, ...(refused === undefined ? {} : { refused }) });
  }
  return { candidates, problems: [] };
}
