import { builtin } from "../builtin.ts";
import { clock } from "../clock.ts";
import type { Processes } from "./descendants.ts";
import { signalProcess } from "./signal-process.ts";

interface Row {
  readonly parent: number;
  readonly startedAt: string;
}

/** One column an option: after `=` stands the heading, commas included. */
const COLUMNS = ["-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "lstart="];
const ROW = /^\s*(\d+)\s+(\d+)\s+([^\sZX]\S*)\s+(\S.*\S)\s*$/;
const TIMEOUT_MS = 1000;
const MAX_BYTES = 4 * 1024 * 1024;
/** A table holds for so long to find children in, which may leave their parents at any time. */
const FRESH_MS = 50;
/** To see whether a process still runs it also holds for this many times as long as it took to get: that is asked all the time. */
const FRESH_SHARE = 10;

/**
 * The processes of macOS and the BSDs, as `ps` lists them: one run for all who ask at about the same time. Synchronous, since
 * the host may be about to end. Where it cannot be run there are none, and process groups are all that can be reached.
 */
export class Ps implements Processes {
  #rows: ReadonlyMap<number, Row> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  readonly #program: string;

  constructor(program = "/bin/ps") {
    this.#program = program;
  }

  childrenOf(pid: number): readonly number[] {
    return [...this.#table(FRESH_MS)].filter(([, { parent }]) => parent === pid).map(([child]) => child);
  }

  /** Of a group of zombies macOS tells itself that nothing can be signalled. */
  hasOnlyZombies(): boolean {
    return false;
  }

  startTime(pid: number): string | undefined {
    if (!signalProcess(pid, 0)) return undefined;
    return this.#table(Math.max(FRESH_MS, FRESH_SHARE * this.#tookMs)).get(pid)?.startedAt;
  }

  #table(maxAgeMs: number): ReadonlyMap<number, Row> {
    const begin = clock.now();
    if (begin - this.#readAt < maxAgeMs) return this.#rows;
    // A run that failed says nothing of any process: where it fails again, what was known before still holds.
    this.#rows = readTable(this.#program) ?? readTable(this.#program) ?? this.#rows;
    this.#readAt = clock.now();
    this.#tookMs = this.#readAt - begin;
    return this.#rows;
  }
}

/** `undefined` if the run failed, as on a machine that is so busy that it takes too long. */
function readTable(program: string): ReadonlyMap<number, Row> | undefined {
  const rows = new Map<number, Row>();
  const bounds = { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES } as const;
  const { stdout, status } = builtin("node:child_process").spawnSync(program, ["-A", ...COLUMNS], {
    ...bounds,
    env: { LC_ALL: "C" },
    encoding: "latin1",
    stdio: ["ignore", "pipe", "ignore"],
  });
  for (const line of (stdout ?? "").split("\n")) {
    const [, pid, parent, , startedAt = ""] = ROW.exec(line) ?? [];
    if (pid !== undefined) rows.set(Number(pid), { parent: Number(parent), startedAt });
  }
  return rows.size > 0 && status === 0 ? rows : undefined;
}
