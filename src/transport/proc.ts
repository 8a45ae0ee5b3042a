import { readdirSync, readFileSync } from "node:fs";
import type { Processes } from "./descendants.ts";

/** Linux's processes, from /proc. */
export const proc: Processes = {
  childrenOf(pid) {
    const children: number[] = [];
    try {
      // A child belongs to the thread that started it.
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const listed = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
        for (const word of listed.split(" ")) if (word.trim() !== "") children.push(Number(word));
      }
    } catch {
      // The process has ended meanwhile, or /proc is not mounted: nothing to find.
    }
    return children;
  },

  startTime(pid) {
    const found = statusOf(pid);
    return found?.runs ? found.startedAt : undefined;
  },

  hasOnlyZombies(group) {
    const members = all().filter((found) => found.group === String(group));
    // None at all: they are hidden from us, and may run.
    return members.length > 0 && !members.some(({ runs }) => runs);
  },
};

interface Status {
  readonly runs: boolean;
  readonly group: string | undefined;
  readonly startedAt: string | undefined;
}

function all(): Status[] {
  try {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map(statusOf).filter((found) => found !== undefined);
  } catch {
    return []; // Not mounted.
  }
}

/** Fields 3, 5, 20 and 22 of /proc/pid/stat, after the command in parentheses; `undefined` for a process that is gone. */
function statusOf(pid: number | string): Status | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Of a program whose first thread has ended the others may go on.
    const runs = (fields[0] !== "Z" && fields[0] !== "X") || Number(fields[17]) > 1;
    return { runs, group: fields[2], startedAt: fields[19] };
  } catch {
    return undefined;
  }
}
