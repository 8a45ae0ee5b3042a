import { resolve } from "node:path";
import { defined } from "../defined.ts";
import { AdapterError } from "../errors.ts";
import { keepNewest } from "../keep-newest.ts";
import type { Limits } from "../limits.ts";
import { type ConfigProblem, mayHideServers } from "./candidate.ts";
import type { ConfigEntry, Environment } from "./entry.ts";
import { type FileSystem, Files, type Tracked } from "./files.ts";
import { defaultLayers, gather, type Layer } from "./layers.ts";
import { merge } from "./merge.ts";
import { type Place, type PlaceOptions, placeKey, placeOf } from "./place.ts";
import { loadShapeCheck } from "./shape.ts";
import { fromHome } from "./spec.ts";

/** The configured servers, as the files said at the time of `load`. */
export interface ConfigView {
  /** By name; entries that cannot be used are in it with their `error`. */
  readonly servers: ReadonlyMap<string, ConfigEntry>;
  /** What is wrong with files as a whole; none of it hides a server that can be used. */
  readonly problems: readonly ConfigProblem[];
  /** The files that were read and could be used: absolute, without links. */
  readonly files: readonly string[];
  /** Whether every file that is there could be used: then what is not in `servers` is configured nowhere. */
  readonly isComplete: boolean;
  /** The files' own setting, for answers that are not about one server. */
  readonly maxResultBytes?: number;
}

export interface ConfigStoreOptions {
  readonly limits: Limits;
  /** Read anew at each use; by default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  /** Instead of the disk. */
  readonly fileSystem?: FileSystem;
}

export interface ConfigTarget {
  /** One file that counts alone; relative to `cwd`. Without it, the user's and the project's files count. */
  readonly configPath?: string | undefined;
  /** The host's working directory, absolute. */
  readonly cwd: string;
}

interface Loaded {
  readonly view: ConfigView;
  readonly tracked: Tracked;
  /** The `placeKey` of the environment it was loaded in. */
  readonly placeKey: string;
  readonly made: ReadonlyMap<string, ConfigEntry>;
}

const REMEMBERED_VIEWS = 64;

/** The config files of one plugin. Costs one `stat` for each file as long as nothing changes. */
export class ConfigStore {
  readonly #options: ConfigStoreOptions;
  readonly #files: Files;
  readonly #loaded = new Map<string, Loaded>();

  constructor(options: ConfigStoreOptions) {
    this.#options = options;
    this.#files = new Files(options.fileSystem, options.platform);
  }

  /** What `load` would give if nothing has changed since it was loaded last; waits for nothing. */
  current(target: ConfigTarget): ConfigView | undefined {
    const known = this.#loaded.get(this.#key(target));
    if (known === undefined || !this.#unchanged(known.tracked)) return undefined;
    const { configPath } = target;
    // One file alone depends on the environment only through the home folder in its path, its imports and its plugin packages.
    const depends = configPath !== undefined && (known.tracked.size > 1 || configPath.startsWith("~"));
    return depends && known.placeKey !== this.#placeKey(target) ? undefined : known.view;
  }

  /**
   * The servers as the files say now; the same object as long as nothing has changed.
   * @throws AdapterError `config.missing`, `config.unreadable`, `config.syntax`, `config.shape` about an explicit
   * `configPath`; without one, such files are told in `problems`.
   */
  async load(target: ConfigTarget): Promise<ConfigView> {
    const current = this.current(target);
    if (current !== undefined) return current;
    const { configPath, cwd } = target;
    const place = placeOf(this.#placeOptions(cwd));
    const layers: readonly Layer[] =
      configPath === undefined
        ? defaultLayers(place)
        : [{ path: resolve(cwd, fromHome(configPath, place.home)), origin: "explicit" }];
    return this.#read(layers, place, target);
  }

  #key(target: ConfigTarget): string {
    return target.configPath === undefined ? this.#placeKey(target) : `${target.cwd}\0${target.configPath}`;
  }

  #placeKey({ cwd }: ConfigTarget): string {
    return placeKey(this.#placeOptions(cwd));
  }

  #unchanged(tracked: Tracked): boolean {
    for (const [path, version] of tracked) if (this.#files.version(path) !== version) return false;
    return true;
  }

  async #read(layers: readonly Layer[], place: Place, target: ConfigTarget): Promise<ConfigView> {
    const { limits } = this.#options;
    const key = this.#key(target);
    // Before anything below waits: the environment may be another one afterwards.
    const placeKey = this.#placeKey(target);
    const { candidates, problems, files, isComplete, tracked, trust, maxResultBytes } = await gather(
      layers,
      place,
      this.#files,
      limits,
    );
    const shape = await loadShapeCheck(candidates.map(({ raw }) => raw));
    const environment = (): Environment => {
      const { env, platform } = this.#placeOptions(place.cwd);
      return { env, platform, home: place.home };
    };
    // Nothing below waits, so that of two loads at once the second finds the entries of the first.
    const known = this.#loaded.get(key)?.made ?? new Map();
    const merged = merge(candidates, { limits, shape, environment, trust, maxResultBytes, known });
    const view: ConfigView = {
      servers: merged.servers,
      problems: [...problems, ...merged.problems],
      files,
      isComplete,
      ...defined({ maxResultBytes }),
    };
    keepNewest(this.#loaded, key, { view, tracked, made: merged.made, placeKey }, REMEMBERED_VIEWS);
    return view;
  }

  #placeOptions(cwd: string): PlaceOptions {
    const { env = process.env, platform = process.platform } = this.#options;
    return { cwd, env, platform };
  }
}

/** Why a server that was named is not there. */
export function unknownServer(server: string, view: ConfigView): AdapterError {
  const problems = view.problems.map((problem) => problem.error.message);
  const [only] = view.problems;
  // Where there is nothing but a file that cannot be used, the file is the matter.
  if (view.servers.size === 0 && view.problems.length === 1 && only !== undefined && mayHideServers(only))
    return only.error;
  return new AdapterError("server.unknown", {
    server,
    configured: [...view.servers.keys()],
    ...(problems.length === 0 ? {} : { problems }),
  });
}
