import { type AdapterError, isAdapterError } from "../errors.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { CheckedEntry } from "./check.ts";
import { lookUpIn } from "./expand.ts";
import { type ExpandedSpec, expandEndpoint, expandSpec, type Provenance, type Surroundings } from "./spec.ts";
import { summaryOf } from "./summary.ts";

/** One configured server. */
export interface ConfigEntry {
  readonly name: string;
  /** The file that describes it: absolute, without links. */
  readonly configPath: string;
  readonly origin: ServerSpec["origin"];
  readonly transport: "stdio" | "http" | "sse" | "unknown";
  readonly enabled: boolean;
  /** The file that says whether it is enabled: its own, or a later one that changes that. */
  readonly switchedIn: string;
  readonly exposure?: string;
  /** The command with its arguments, or the URL, as written: variables unexpanded, written-out secrets masked. */
  readonly summary?: string;
  /** Why the entry cannot be used. */
  readonly error?: AdapterError;
  /** Why it cannot be used as things are: `error`, or where it is enabled what its variables come to. */
  flaw(context: { readonly cwd: string }): AdapterError | undefined;
  /**
   * The server to connect to, its variables expanded now. The same object comes back as long as the entry, the values of
   * its variables and `cwd` (the host's working directory) are the same.
   * @throws AdapterError `config.entry`, `config.variable`
   */
  spec(context: { readonly cwd: string }): ServerSpec;
}

/** Where an entry is expanded, apart from the working directory. */
export type Environment = Omit<Surroundings, "cwd">;

export interface EntryContext {
  readonly environment: () => Environment;
  /** Runs before each expansion; it may throw. */
  readonly prepare: () => void;
  readonly switchedIn: string | undefined;
}

/** An entry whose fields are in order. */
export class UsableEntry implements ConfigEntry {
  readonly name: string;
  readonly configPath: string;
  readonly origin: ServerSpec["origin"];
  readonly transport: "stdio" | "http" | "sse";
  readonly enabled: boolean;
  readonly switchedIn: string;
  readonly exposure?: string;
  readonly summary: string;
  readonly #entry: CheckedEntry;
  readonly #provenance: Provenance;
  readonly #environment: () => Environment;
  readonly #prepare: () => void;
  #latest: (ExpandedSpec & { readonly cwd: string }) | undefined;

  constructor(entry: CheckedEntry, provenance: Provenance, { environment, prepare, switchedIn }: EntryContext) {
    const { endpoint } = entry;
    this.name = provenance.server;
    this.configPath = provenance.configPath;
    this.origin = provenance.origin;
    this.transport = endpoint.kind === "stdio" ? "stdio" : endpoint.transport === "sse" ? "sse" : "http";
    this.enabled = entry.enabled ?? true;
    this.switchedIn = switchedIn ?? provenance.configPath;
    if (entry.exposure !== undefined) this.exposure = entry.exposure;
    this.summary = summaryOf(endpoint);
    this.#entry = entry;
    this.#provenance = provenance;
    this.#environment = environment;
    this.#prepare = prepare;
  }

  /** Prepares nothing, since nothing is about to start. */
  flaw({ cwd }: { readonly cwd: string }): AdapterError | undefined {
    if (!this.enabled) return undefined;
    try {
      expandEndpoint(this.#entry, this.#provenance, { ...this.#environment(), cwd });
      return undefined;
    } catch (error) {
      if (!isAdapterError(error)) throw error;
      return error;
    }
  }

  spec({ cwd }: { readonly cwd: string }): ServerSpec {
    const environment = this.#environment();
    const { env, platform } = environment;
    const latest = this.#latest;
    if (latest !== undefined && latest.cwd === cwd && unchanged(latest.used, env, platform)) return latest.spec;
    this.#prepare();
    const expanded = expandSpec(this.#entry, this.#provenance, { ...environment, cwd });
    this.#latest = { ...expanded, cwd };
    return expanded.spec;
  }
}

/** An entry that is listed with what is wrong with it. */
export class BrokenEntry implements ConfigEntry {
  readonly name: string;
  readonly configPath: string;
  readonly origin: ServerSpec["origin"];
  readonly transport = "unknown";
  readonly enabled: boolean;
  readonly switchedIn: string;
  readonly error: AdapterError;

  constructor(
    { server, configPath, origin }: Pick<Provenance, "server" | "configPath" | "origin">,
    error: AdapterError,
    enabled: boolean,
  ) {
    this.name = server;
    this.configPath = configPath;
    this.origin = origin;
    this.error = error;
    this.enabled = enabled;
    this.switchedIn = configPath;
  }

  flaw(): AdapterError {
    return this.error;
  }

  spec(): never {
    throw this.error;
  }
}

function unchanged(
  used: ReadonlyMap<string, string | undefined>,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): boolean {
  if (used.size === 0) return true;
  const lookUp = lookUpIn(env, platform);
  for (const [name, value] of used) if (lookUp(name) !== value) return false;
  return true;
}
