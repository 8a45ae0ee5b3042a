import { isAdapterError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Candidate, ConfigProblem } from "../candidate.ts";
import { checkEntry, isOverride } from "../check.ts";
import { Files } from "../files.ts";
import { type PlaceOptions, placeOf } from "../place.ts";
import { loadShapeCheck, type ShapeCheck } from "../shape.ts";
import { DIALECTS, readDialect } from "./read.ts";

/** What one file of another tool holds. */
export interface FoundImport {
  /** Its name in `imports`. */
  readonly dialect: string;
  readonly path: string;
  readonly level: "user" | "project";
  readonly servers: readonly FoundServer[];
  readonly problems: readonly ConfigProblem[];
}

/** One of its servers, in our own format; with `refused`, not all of it could be brought over, or it is of no use here. */
export type FoundServer = Pick<Candidate, "name" | "raw" | "refused">;

/** Looks through the config files of all known tools. */
export async function findImports(options: PlaceOptions): Promise<readonly FoundImport[]> {
  const place = placeOf(options);
  const files = new Files(undefined, options.platform);
  const found: FoundImport[] = [];
  for (const dialect of DIALECTS) {
    const read = await readDialect(dialect, place, files, LIMITS);
    for (const { path, level, candidates, problems } of read?.files ?? []) {
      const shape = await loadShapeCheck(candidates.map(({ raw }) => raw));
      const servers = candidates.map((candidate) => checked(candidate, shape));
      found.push({ dialect, path, level, servers, problems });
    }
  }
  return found;
}

/** Written into a file of ours, an entry that is refused there would be told as broken from then on. */
function checked(candidate: Candidate, shape: ShapeCheck): FoundServer {
  const { name: server, configPath, raw, refused } = candidate;
  // OpenCode's file for one project may say nothing but that a server of the user's is enabled.
  const isSwitch = isOverride(raw) && Object.keys(raw).length > 0;
  if (refused !== undefined || isSwitch) return candidate;
  try {
    checkEntry(raw, { server, configPath, limits: LIMITS, shape });
    return candidate;
  } catch (error) {
    if (!isAdapterError(error)) throw error;
    return { ...candidate, refused: error };
  }
}

/** A config file of ours with the given servers. Refused ones are left out; of equal names the last counts, as in `imports`. */
export function toOurFormat(servers: Iterable<FoundServer>): {
  readonly mcpServers: Readonly<Record<string, unknown>>;
} {
  const usable = [...servers].filter(({ refused }) => refused === undefined);
  // Built from entries, since a server may be named `__proto__`.
  return { mcpServers: Object.fromEntries(usable.map(({ name, raw }) => [name, raw])) };
}
