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

  /** Field 22 of /proc/pid/stat, after the command in parentheses. */
  startTime(pid) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
    } catch {
      return undefined; // Gone.
    }
  },
};
