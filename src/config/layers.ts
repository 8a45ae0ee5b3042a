import { join, resolve } from "node:path";
import type { Trust } from "../contract.ts";
import { defined } from "../defined.ts";
import { AdapterError, isAdapterError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { quote } from "../messages.ts";
import type { ServerSpec } from "../server-spec.ts";
import type { Candidate, ConfigProblem } from "./candidate.ts";
import { type Document, readDocument } from "./document.ts";
import type { Files, Format, Tracked } from "./files.ts";
import { parseJson } from "./json.ts";
import type { Place } from "./place.ts";
import { noteRepeated } from "./repeated.ts";
import { fromHome } from "./spec.ts";

type Origin = ServerSpec["origin"];

/** One of our own files, where it may lie. */
export interface Layer {
  readonly path: string;
  readonly origin: Origin;
}

/** What all files together say, before it is merged. */
export interface Gathered {
  /** Lowest rank first. */
  readonly candidates: readonly Candidate[];
  readonly problems: readonly ConfigProblem[];
  /** The files that could be used. */
  readonly files: readonly string[];
  /** Whether every file that is there could be used. */
  readonly isComplete: boolean;
  /** Every file that was looked for, with the version that was read. */
  readonly tracked: Tracked;
  readonly trust?: Trust;
  readonly maxResultBytes?: number;
}

/** The default files, lowest rank first. */
export function defaultLayers({ configHome, home, piHome, cwd }: Place): readonly Layer[] {
  return [
    { path: join(configHome, "mcp", "mcp.json"), origin: "user" },
    { path: join(home, ".rpi", "mcp.json"), origin: "user" },
    { path: join(piHome, "mcp.json"), origin: "user" },
    { path: join(cwd, ".mcp.json"), origin: "project" },
    { path: join(cwd, ".pi", "mcp.json"), origin: "project" },
    { path: join(cwd, ".rpi", "mcp.json"), origin: "project" },
  ];
}

/**
 * Reads the layers and what they import.
 * @throws AdapterError for an explicit layer that is missing or unusable as a whole; other layers become problems.
 */
export async function gather(layers: readonly Layer[], place: Place, files: Files, limits: Limits): Promise<Gathered> {
  const gathering = new Gathering(place, files, limits);
  for (const layer of layers) await gathering.own(layer);
  return gathering.finish();
}

interface OwnFile {
  readonly path: string;
  readonly origin: Origin;
  readonly document: Document;
}

class Gathering {
  readonly #place: Place;
  readonly #files: Files;
  readonly #limits: Limits;
  readonly #format: Format;
  readonly #own: OwnFile[] = [];
  readonly #problems: ConfigProblem[] = [];
  readonly #read = new Set<string>();
  /** Files that cannot be used: it is not known which servers they would name. */
  readonly #unusable = new Set<string>();
  readonly #tracked = new Map<string, number>();

  constructor(place: Place, files: Files, limits: Limits) {
    this.#place = place;
    this.#files = files;
    this.#limits = limits;
    this.#format = { maxBytes: limits.configBytes, parse: parseOurs };
  }

  async own({ path: wanted, origin }: Layer): Promise<void> {
    const { file, version } = await this.#files.read(wanted, this.#format);
    this.#tracked.set(wanted, version);
    if (file === undefined) {
      if (origin === "explicit") throw new AdapterError("config.missing", { configPath: wanted });
      return;
    }
    // With the home folder as working directory, a user's file is a project's too: the first of them counts.
    if (this.#read.has(file.path)) return;
    this.#read.add(file.path);
    try {
      if (file.error !== undefined) throw file.error;
      const document = readDocument(file.value, file.path);
      for (const error of document.problems) this.#problem(file.path, error);
      this.#own.push({ path: file.path, origin: this.#safeOrigin(origin, file), document });
    } catch (error) {
      if (origin === "explicit" || !isAdapterError(error)) throw error;
      this.#unusable.add(file.path);
      this.#problem(file.path, error);
    }
  }

  async finish(): Promise<Gathered> {
    const imported = await this.#imports();
    const packaged = await this.#plugins();
    const own = this.#own.flatMap(({ path, origin, document }) =>
      document.servers.map(([name, raw]): Candidate => ({ name, raw, configPath: path, origin })),
    );
    const maxResultBytes = this.#own.findLast(({ document }) => document.maxResultBytes !== undefined)?.document
      .maxResultBytes;
    const trust = this.#trust();
    return {
      candidates: [...imported, ...packaged, ...own],
      problems: this.#problems,
      files: [...this.#read].filter((path) => !this.#unusable.has(path)),
      isComplete: this.#unusable.size === 0,
      tracked: this.#tracked,
      ...defined({ trust, maxResultBytes }),
    };
  }

  async #imports(): Promise<readonly Candidate[]> {
    const candidates: Candidate[] = [];
    const done = new Set<string>();
    for (const { path: configPath, origin, document } of this.#own) {
      for (const name of document.imports) {
        if (done.has(name)) continue; // The first layer that names it is the most trusted one.
        done.add(name);
        const { DIALECTS, readDialect } = await import("./imports/read.ts");
        const dialect = await readDialect(name, this.#place, this.#files, this.#limits);
        if (dialect === undefined) {
          const reason = `imports names ${quote(name)}, which is not known; known are ${DIALECTS.join(", ")}`;
          this.#problem(configPath, new AdapterError("config.shape", { configPath, reason }));
          continue;
        }
        this.#track(dialect.tracked);
        for (const file of dialect.files) {
          this.#read.add(file.path);
          if (file.problems.length > 0) this.#unusable.add(file.path);
          this.#problems.push(...file.problems);
          const level = weaker(origin, this.#safeOrigin(file.level, file));
          candidates.push(...file.candidates.map((candidate) => ({ ...candidate, origin: level })));
        }
      }
    }
    return candidates;
  }

  async #plugins(): Promise<readonly Candidate[]> {
    const candidates: Candidate[] = [];
    for (const { path: configPath, origin, document } of this.#own) {
      for (const written of document.pluginPaths) {
        const folder = resolve(configPath, "..", fromHome(written, this.#place.home));
        const { readPlugin } = await import("./plugins/package.ts");
        const plugin = await readPlugin(folder, this.#place, this.#files, this.#limits);
        const level = this.#safeOrigin(origin, { path: join(folder, "mcp.json"), worldWritable: plugin.worldWritable });
        this.#track(plugin.tracked);
        if (plugin.problems.length > 0) this.#unusable.add(folder);
        this.#problems.push(...plugin.problems);
        if (plugin.file !== undefined) this.#read.add(plugin.file);
        candidates.push(...plugin.candidates.map((candidate) => ({ ...candidate, origin: level })));
      }
    }
    return candidates;
  }

  /** Only a user's own file can say that a project is trusted. */
  #trust(): Trust | undefined {
    let trust: Trust | undefined;
    for (const { path: configPath, origin, document } of this.#own) {
      if (document.trust === undefined || origin === "explicit") continue;
      if (origin === "user") {
        trust = document.trust;
        continue;
      }
      const reason = "trust is read from user-level files only";
      this.#problem(configPath, new AdapterError("config.ignored", { configPath, reason }));
    }
    return trust;
  }

  /** The origin that counts: a user-level file that every user of the machine can change is trusted no more than a project's. */
  #safeOrigin(origin: Origin, { path: configPath, worldWritable }: { path: string; worldWritable: boolean }): Origin {
    if (!worldWritable) return origin;
    const demoted = origin === "user";
    this.#problem(configPath, new AdapterError("config.writable", { configPath, demoted }));
    return demoted ? "project" : origin;
  }

  #track(files: Tracked): void {
    for (const [path, version] of files) this.#tracked.set(path, version);
  }

  #problem(configPath: string, error: AdapterError): void {
    this.#problems.push({ configPath, error });
  }
}

async function parseOurs(text: string, configPath: string): Promise<unknown> {
  const value = await parseJson(text, configPath);
  await noteRepeated(text, value);
  return value;
}

/** A project may name a user's file of another tool, but that does not make its servers the user's choice. */
function weaker(importer: Origin, imported: Origin): Origin {
  return importer === "project" || imported === "project" ? "project" : "user";
}
