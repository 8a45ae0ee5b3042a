import type { Processes } from "./descendants.ts";
import { proc } from "./proc.ts";
import { Ps } from "./ps.ts";

/** On Windows none are looked for: taskkill finds a tree by itself. */
const NONE: Processes = { childrenOf: () => [], startTime: () => undefined, hasOnlyZombies: () => false };

const LINUX: ReadonlySet<string> = new Set(["linux", "android"]);

/** The process table of this machine. */
export const PROCESSES: Processes = LINUX.has(process.platform) ? proc : process.platform === "win32" ? NONE : new Ps();
