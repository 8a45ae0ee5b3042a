import type { AdapterError } from "../errors.ts";
import type { Situation } from "../messages.ts";
import type { ServerSpec } from "../server-spec.ts";

/** One server entry of one file, in our own format, before entries of the same name are merged. */
export interface Candidate {
  readonly name: string;
  readonly raw: unknown;
  readonly configPath: string;
  readonly origin: ServerSpec["origin"];
  /** Why the file's entry could not be brought into our format; `raw` then only tells whether it is enabled. */
  readonly refused?: AdapterError;
  /** A folder that must exist before the server starts. */
  readonly dataFolder?: string;
}

/** A file as a whole, or something in it, that cannot be used. */
export interface ConfigProblem {
  readonly configPath: string;
  readonly error: AdapterError;
}

/** Problems of one kind that are reported for a file, which may be full of them. */
export const PROBLEMS_TOLD = 100;

/** Problems that are only warnings. */
const HARMLESS: ReadonlySet<Situation> = new Set(["config.writable", "config.entry", "config.ignored"]);

/** Whether the problem may hide configured servers. */
export function mayHideServers({ error }: ConfigProblem): boolean {
  return !HARMLESS.has(error.situation);
}
