import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type FoundImport, type FoundServer, findImports } from "../config/imports/find.ts";
import { DIALECTS } from "../config/imports/read.ts";
import { placeOf } from "../config/place.ts";
import { isInside } from "../config/plugins/contain.ts";
import { defined } from "../defined.ts";
import { AdapterError, reasonOf } from "../errors.ts";
import { fromProcessFolder } from "../process-folder.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { realPathOrItself } from "../real-path.ts";
import { quoteText, readable } from "../remote-text.ts";
import { replaceFile } from "../replace-file.ts";
import { masked, type Plan, planImport } from "./import-plan.ts";
import { type CommandContext, workingFolder } from "./session.ts";
import { sourceOf } from "./source.ts";
import type { Terminal } from "./terminal.ts";
import { unifiedDiff } from "./unified-diff.ts";
import { usage } from "./usage.ts";

const LINE_CHARACTERS = 160;
const ADVICE_CHARACTERS = 1000;

/** `rpi-mcp import [DIALECT...]` */
export async function importServers(words: readonly string[], { options, terminal }: CommandContext): Promise<number> {
  const unknown = words.find((word) => !DIALECTS.includes(word));
  if (unknown !== undefined)
    throw usage(
      `There is no dialect ${JSON.stringify(unknown)}`,
      `Known: ${DIALECTS.join(", ")}. Any file with "mcpServers" can be used as it is: --config FILE.`,
    );
  if (options.overwrite === true && options.write !== true) throw usage("--overwrite needs --write");
  const cwd = workingFolder(options);
  const all = await findImports({ cwd, env: process.env, platform: process.platform });
  const found = all.filter(({ dialect }) => words.length === 0 || words.includes(dialect));
  const plans = await plan(found, cwd, options);
  const broken = found.some(({ problems }) => problems.length > 0);
  if (options.write === true) for (const each of plans) await write(each);
  if (options.json === true)
    await terminal.json({
      found: found.map((file) => withoutErrors(file, rivals(file, found, options))),
      files: plans.map((each) => summary(each, options.write === true)),
    });
  else {
    const lines = found.flatMap((file) => about(file, rivals(file, found, options), { cwd, terminal }));
    await report(lines, plans, cwd, options.write === true, terminal);
  }
  return broken ? 1 : 0;
}

/** The files whose servers go to the same file of ours. */
function rivals(
  { level }: FoundImport,
  found: readonly FoundImport[],
  { config }: CommandContext["options"],
): readonly FoundImport[] {
  return config === undefined ? found.filter((file) => file.level === level) : found;
}

/** The file whose server of this name is taken, which is the last; nothing where it is this one. */
function winnerOver(
  file: FoundImport,
  { name, refused }: FoundServer,
  all: readonly FoundImport[],
): string | undefined {
  if (refused !== undefined) return undefined;
  const has = (other: FoundImport): boolean =>
    other.servers.some((server) => server.name === name && server.refused === undefined);
  const winner = all.filter(has).at(-1);
  return winner === undefined || winner === file ? undefined : winner.dialect;
}

/** A project's servers stay the project's: in the user's own file they would be trusted everywhere. */
async function plan(
  found: readonly FoundImport[],
  cwd: string,
  { config, overwrite = false }: CommandContext["options"],
): Promise<Plan[]> {
  if (config !== undefined) return [await planImport(fromProcessFolder(config), found, overwrite)];
  const { home } = placeOf({ cwd, env: process.env, platform: process.platform });
  const plans: Plan[] = [];
  for (const [level, folder] of [
    ["user", home],
    ["project", cwd],
  ] as const) {
    const files = found.filter((file) => file.level === level);
    if (files.length === 0) continue;
    const path = join(folder, ".rpi", "mcp.json");
    if (level === "project") assertInside(cwd, path);
    plans.push(await planImport(path, files, overwrite));
  }
  return plans;
}

/** A cloned repository may hold a link to the user's own file, or to that of another tool. */
function assertInside(cwd: string, configPath: string): void {
  if (isInside(cwd, configPath)) return;
  const reason = "it is a link out of the project; name the file with --config if its servers may stand there";
  throw new AdapterError("config.unreadable", { configPath, reason });
}

/** A new file is private, since entries may hold secrets. */
async function write({ path, before, after }: Plan): Promise<void> {
  if (after === before) return;
  try {
    await mkdir(dirname(path), { recursive: true });
    // Through a link: the file of somebody's dotfiles is changed, not the link to it.
    const target = realPathOrItself(path);
    const known = statSync(target, { throwIfNoEntry: false });
    await replaceFile(target, after, known === undefined ? undefined : known.mode & 0o777);
  } catch (error) {
    throw new AdapterError("cli.file", { path, reason: reasonOf(error) }, { cause: error });
  }
}

async function report(
  lines: string[],
  plans: readonly Plan[],
  cwd: string,
  written: boolean,
  terminal: Terminal,
): Promise<void> {
  if (lines.length === 0) return terminal.print("No other tool has configured servers here.");
  let changes = 0;
  for (const { path, kept, added, replaced, shown } of plans) {
    changes += added.length + replaced.length;
    if (kept.length > 0) lines.push("", `Already in ${sourceOf(path, cwd)}, and left alone: ${kept.join(", ")}`);
    const diff = unifiedDiff(sourceOf(path, cwd), shown.before, shown.after);
    if (diff.length > 0) lines.push("", ...diff.map((line) => coloured(readable(line), terminal)));
  }
  await terminal.print(lines.join("\n"));
  if (changes === 0) terminal.note("There is nothing to add.");
  else if (!written) terminal.note("Nothing was written. Add --write to do it.");
  else for (const { path, before, after } of plans) if (after !== before) terminal.note(`Written: ${path}`);
}

function about(
  file: FoundImport,
  all: readonly FoundImport[],
  { cwd, terminal }: { readonly cwd: string; readonly terminal: Terminal },
): string[] {
  const { dialect, path, servers, problems } = file;
  const lines = [`${terminal.style("bold", dialect)}  ${sourceOf(path, cwd)}`];
  for (const { error } of problems)
    lines.push(terminal.style("yellow", `  cannot be read: ${quoteText(error.message, 500)}`));
  for (const server of servers) {
    const winner = winnerOver(file, server, all);
    const note = winner === undefined ? "" : `  (not taken: ${winner} has one of this name, too)`;
    lines.push(`  ${quoteText(server.name, LINE_CHARACTERS)}  ${fate(server)}${note}`);
  }
  if (servers.length === 0 && problems.length === 0) lines.push("  no servers");
  return lines;
}

/** What a server runs, or why it is not brought over: server and file stand before it already. */
function fate({ raw, refused }: FoundServer): string {
  if (refused !== undefined) {
    const { field, reason } = refused.details;
    const why = reason === undefined ? refused.message : `${field === "" ? "it" : String(field)} ${String(reason)}`;
    return quoteText(`not imported: ${why}`, ADVICE_CHARACTERS);
  }
  const entry = masked(raw);
  if (!isObject(entry)) return "";
  const { url, command, args } = entry;
  return quoteText(String(url ?? [command, ...(Array.isArray(args) ? args : [])].join(" ")), LINE_CHARACTERS);
}

function coloured(line: string, terminal: Terminal): string {
  if (line.startsWith("+++") || line.startsWith("---")) return terminal.style("bold", line);
  return line.startsWith("+")
    ? terminal.style("green", line)
    : line.startsWith("-")
      ? terminal.style("red", line)
      : line;
}

function withoutErrors(file: FoundImport, all: readonly FoundImport[]): object {
  const { dialect, path, level, servers, problems } = file;
  return {
    dialect,
    path,
    level,
    servers: servers.map((server) => {
      const { name, refused } = server;
      const winner = winnerOver(file, server, all);
      return { name, ...defined({ refused: refused?.message, takenFrom: winner }) };
    }),
    problems: problems.map(({ error }) => error.message),
  };
}

function summary({ path, added, replaced, kept, before, after }: Plan, write: boolean): object {
  return { path, added, replaced, kept, written: write && after !== before };
}
