/** A process and when it started, so that a reused pid is not taken for it. */
export interface ProcessMark {
  readonly pid: number;
  readonly startedAt: string;
}

/** The operating system's process table. */
export interface Processes {
  childrenOf(pid: number): readonly number[];
  /** `undefined` for a process that is gone or a zombie. */
  startTime(pid: number): string | undefined;
  /**
   * Whether a process group that still has members consists of zombies only: they stay where nothing reaps orphans, as in a container
   * without an init. Always false on systems where signals ignore zombies.
   */
  hasOnlyZombies(group: number): boolean;
}

const MAX_PROCESSES = 4096;

/** All descendants of a process, those in groups and sessions of their own included (a browser that a server started). */
export function descendants(root: number, processes: Processes): readonly ProcessMark[] {
  const found: ProcessMark[] = [];
  const queue = [root];
  for (let pid = queue.pop(); pid !== undefined && found.length < MAX_PROCESSES; pid = queue.pop()) {
    for (const child of processes.childrenOf(pid)) {
      const startedAt = processes.startTime(child);
      if (startedAt === undefined) continue;
      found.push({ pid: child, startedAt });
      queue.push(child);
    }
  }
  return found;
}

/** Whether it still runs: neither gone nor a zombie, and its pid not given to another. */
export function isSameProcess(mark: ProcessMark, processes: Processes): boolean {
  return processes.startTime(mark.pid) === mark.startedAt;
}
