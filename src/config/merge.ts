import { mkdirSync } from "node:fs";
import type { Trust } from "../contract.ts";
import { defined } from "../defined.ts";
import { AdapterError, isAdapterError, reasonOf } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { ServerSpec } from "../server-spec.ts";
import { type Candidate, type ConfigProblem, PROBLEMS_TOLD } from "./candidate.ts";
import { checkEntry, checkOverrides, foreignKeys, isOverride, type Overrides } from "./check.ts";
import { BrokenEntry, type ConfigEntry, type Environment, UsableEntry } from "./entry.ts";
import type { Json } from "./json.ts";
import { misspeltFields } from "./misspelt.ts";
import type { ShapeCheck } from "./shape.ts";

export interface MergeContext {
  readonly limits: Limits;
  readonly shape: ShapeCheck;
  readonly environment: () => Environment;
  readonly trust?: Trust | undefined;
  readonly maxResultBytes?: number | undefined;
  /** Entries made earlier, by what they were made from: an unchanged one keeps its identity. */
  readonly known: ReadonlyMap<string, ConfigEntry>;
}

export interface Merged {
  readonly servers: ReadonlyMap<string, ConfigEntry>;
  readonly problems: readonly ConfigProblem[];
  /** The entries by what they were made from, for the next merge. */
  readonly made: ReadonlyMap<string, ConfigEntry>;
}

/** All that is said about one server: its entry, and the overrides of later files. */
interface Stack {
  base: Candidate;
  overrides: { readonly from: Candidate; readonly raw: Json }[];
}

/** Merges what all files say, lowest rank first: by name, the later wins; an entry without an endpoint changes the one below. */
export function merge(candidates: readonly Candidate[], context: MergeContext): Merged {
  const stacks = new Map<string, Stack>();
  for (const candidate of candidates) {
    const below = stacks.get(candidate.name);
    if (below !== undefined && candidate.refused === undefined && isOverride(candidate.raw)) {
      below.overrides.push({ from: candidate, raw: candidate.raw });
    } else {
      stacks.set(candidate.name, { base: candidate, overrides: [] });
    }
  }
  const servers = new Map<string, ConfigEntry>();
  const made = new Map<string, ConfigEntry>();
  const problems = new Problems();
  for (const [name, stack] of stacks) {
    tellMisspelt(stack.base, problems);
    const settings = settingsOf(stack, context, problems);
    const source = JSON.stringify([stack.base, stack.overrides, context.trust, context.maxResultBytes]);
    const entry = context.known.get(source) ?? build(stack.base, settings, context);
    servers.set(name, entry);
    made.set(source, entry);
  }
  return { servers, problems: problems.all, made };
}

/** What is wrong with the entries of each file, up to a number that can be read: a file may be full of it. */
class Problems {
  readonly all: ConfigProblem[] = [];
  readonly #told = new Map<string, number>();

  /** Makes the error only if it is told. */
  add(configPath: string, error: () => AdapterError): void {
    const told = this.#told.get(configPath) ?? 0;
    if (told > PROBLEMS_TOLD) return;
    this.#told.set(configPath, told + 1);
    const reason = `its entries have more problems than the ${PROBLEMS_TOLD} reported here`;
    const made = told < PROBLEMS_TOLD ? error() : new AdapterError("config.ignored", { configPath, reason });
    this.all.push({ configPath, error: made });
  }
}

/** A misspelt `excludeTools` would leave callable what its author wanted hidden, and nobody would know. */
function tellMisspelt({ name: server, configPath, raw, refused }: Candidate, problems: Problems): void {
  if (refused !== undefined || !isObject(raw)) return;
  for (const [field, advice] of misspeltFields(raw)) {
    const reason = `is not read; ${advice}`;
    problems.add(configPath, () => new AdapterError("config.entry", { server, configPath, field, reason }));
  }
}

interface Settings {
  readonly overrides: Overrides;
  readonly autoApproveFrom: ServerSpec["origin"] | undefined;
  readonly enabledBy: string | undefined;
  /** The last file whose override says whether it is enabled. */
  readonly switchedIn: string | undefined;
}

/** What the overrides of one entry come to. A bad override is a problem of its file; the entry stays as it was. */
function settingsOf({ base, overrides }: Stack, context: MergeContext, problems: Problems): Settings {
  let settings: Settings = { overrides: {}, autoApproveFrom: undefined, enabledBy: undefined, switchedIn: undefined };
  let enabled = enabledIn(base.raw);
  for (const { from, raw } of overrides) {
    const { name: server, configPath, origin } = from;
    const foreign = foreignKeys(raw);
    if (foreign.length > 0) {
      const reason =
        "is ignored: without command or url an entry changes only enabled, timeout, exposure and autoApprove";
      const field = foreign.join(", ");
      problems.add(configPath, () => new AdapterError("config.entry", { server, configPath, field, reason }));
    }
    try {
      const found = checkOverrides(raw, { ...context, server, configPath });
      const enables = origin === "project" && base.origin !== "project" && found.enabled === true && !enabled;
      const repeats = origin === "project" && found.enabled === enabled;
      enabled = found.enabled ?? enabled;
      settings = {
        overrides: { ...settings.overrides, ...found },
        switchedIn: found.enabled === undefined ? settings.switchedIn : configPath,
        autoApproveFrom: found.autoApprove === undefined ? settings.autoApproveFrom : origin,
        // A project's file that only repeats another does not make it the user's word.
        enabledBy: enables ? configPath : found.enabled === undefined || repeats ? settings.enabledBy : undefined,
      };
    } catch (error) {
      if (!isAdapterError(error)) throw error;
      problems.add(configPath, () => error);
    }
  }
  return settings;
}

function build(base: Candidate, settings: Settings, context: MergeContext): ConfigEntry {
  const { name: server, configPath, origin, raw } = base;
  const owner = { server, configPath };
  try {
    if (base.refused !== undefined) throw base.refused;
    const checked = { ...checkEntry(raw, { ...owner, ...context }), ...settings.overrides };
    const approveFrom = settings.autoApproveFrom ?? (checked.autoApprove === undefined ? undefined : origin);
    const provenance = {
      ...owner,
      origin,
      ...defined({
        trust: context.trust,
        maxResultBytes: context.maxResultBytes,
        autoApproveFrom: approveFrom,
        enabledBy: settings.enabledBy,
      }),
    };
    return new UsableEntry(checked, provenance, {
      environment: context.environment,
      prepare: () => makeFolder(base),
      switchedIn: settings.switchedIn,
    });
  } catch (error) {
    if (!isAdapterError(error)) throw error;
    return new BrokenEntry({ ...owner, origin }, error, settings.overrides.enabled ?? enabledIn(raw));
  }
}

/** Whether an entry that may be broken says that it is enabled. */
function enabledIn(raw: unknown): boolean {
  return !isObject(raw) || (raw.enabled !== false && raw.disabled !== true);
}

/** Agent Plugins 1.0.0, section 9.1: the data folder exists before the server starts. */
function makeFolder({ dataFolder, name: server, configPath }: Candidate): void {
  if (dataFolder === undefined) return;
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = `needs the data folder ${dataFolder}, which cannot be made: ${reasonOf(error)}`;
    throw new AdapterError("config.entry", { server, configPath, field: "", reason });
  }
}
