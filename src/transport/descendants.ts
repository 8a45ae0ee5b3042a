import { readdirSync, readFileSync } from "node:fs";

/** A process and when it started, so that a reused pid is not taken for it. */
export interface ProcessMark {
  readonly pid: number;
  readonly startedAt: string;
}

const MAX_PROCESSES = 4096;

/**
 * All descendants of a process, those in groups and sessions of their own included (a browser that a server started).
 * Linux only, from /proc; elsewhere empty: there the whole tree is killed by other means.
 */
export function descendants(root: number): readonly ProcessMark[] {
  if (process.platform !== "linux") return [];
  const found: ProcessMark[] = [];
  const queue = [root];
  for (let pid = queue.pop(); pid !== undefined && found.length < MAX_PROCESSES; pid = queue.pop()) {
    for (const child of childrenOf(pid)) {
      const startedAt = startTime(child);
      if (startedAt === undefined) continue;
      found.push({ pid: child, startedAt });
      queue.push(child);
    }
  }
  return found;
}

/** Whether it still runs: neither gone nor a zombie, and its pid not given to another. */
export function isSameProcess(mark: ProcessMark): boolean {
  return startTime(mark.pid) === mark.startedAt;
}

function childrenOf(pid: number): number[] {
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
}

/** Field 22 of /proc/pid/stat, after the command in parentheses; `undefined` for a process that is gone or a zombie. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined; // Gone.
  }
}
