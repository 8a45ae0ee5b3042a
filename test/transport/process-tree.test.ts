import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { resolveLimits } from "../../src/limits.ts";
import { descendants, isSameProcess, type Processes } from "../../src/transport/descendants.ts";
import { stopTree } from "../../src/transport/process-tree.ts";
import { PROCESSES } from "../../src/transport/processes.ts";
import { Ps } from "../../src/transport/ps.ts";
import { endTreeOnWindows, endTreesNowOnWindows } from "../../src/transport/taskkill.ts";
import { readLedger, SERVERS } from "../support/plugin-harness.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const LIMITS = resolveLimits({ stdinEndMs: 300, terminateMs: 300 });
const posix = process.platform === "win32" ? describe.skip : describe;
const linux = process.platform === "linux" ? describe : describe.skip;
/** Of macOS and the BSDs; Linux has the program, too, mostly. */
const WAYS: [string, Processes][] = [["this system's way", PROCESSES]];
const hasPs = process.platform === "linux" && existsSync("/bin/ps");
if (hasPs) WAYS.push(["ps", new Ps()]);
let folder: string;
const children: ChildProcess[] = [];
const outsiders: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tree-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const pid of [...pids(), ...outsiders.splice(0)].filter(isAlive)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

function pids(): number[] {
  return [...new Set(readLedger(join(folder, "ledger")).map(({ pid }) => pid))];
}

/** Starts a fault server as the leader of a group of its own, and waits until it and its helpers run. */
async function start(mode: string, processes: number): Promise<ChildProcess> {
  const env = { ...process.env, LEDGER: join(folder, "ledger") };
  const child = spawn(process.execPath, [join(SERVERS, "processes.mjs"), mode], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
    env,
  });
  children.push(child);
  await waitFor("all processes run", () => pids().length === processes);
  return child;
}

async function stop(child: ChildProcess, atOnce = false, limits = LIMITS, processes = PROCESSES): Promise<number> {
  const begin = performance.now();
  const root = {
    pid: child.pid ?? 0,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    endInput: () => child.stdin?.end(),
  };
  await stopTree(root, limits, atOnce, processes);
  return performance.now() - begin;
}

posix.each(WAYS)("stopping a tree whose processes are found by %s", (_, ways) => {
  test.each([
    ["plain", 1],
    ["launcher", 2],
    ["grandchild", 2],
    ["setsid-grandchild", 2],
    ["stubborn-family", 3],
  ])("leaves nothing of %s", async (mode, processes) => {
    const child = await start(mode, processes);
    await stop(child, false, LIMITS, ways);
    expect(pids().filter(isAlive)).toEqual([]);
  });
});

posix("stopping a tree", () => {
  test("at once leaves out the wait for the end of stdin", async () => {
    const child = await start("stubborn", 1);
    await stop(child, true);
    const events = readLedger(join(folder, "ledger")).map(({ event, signal }) => signal ?? event);
    expect(events).toContain("SIGTERM");
    expect(isAlive(child.pid ?? 0)).toBe(false);
  });

  test("that has gone already is over at once", async () => {
    const child = await start("plain", 1);
    child.kill("SIGKILL");
    await waitFor("it is gone", () => child.signalCode !== null);
    expect(await stop(child)).toBeLessThan(300);
  });

  test("ends helpers in the group of a leader that died before", async () => {
    const child = await start("grandchild", 2);
    child.kill("SIGKILL");
    await waitFor("it is gone", () => child.signalCode !== null);
    await stop(child, true);
    expect(pids().filter(isAlive)).toEqual([]);
  });
});

test("programs on Windows are ended, also where taskkill cannot be run", async () => {
  const [now, soon] = [await start("stubborn", 1), await start("stubborn", 2)];
  endTreesNowOnWindows([now.pid ?? 0]);
  await endTreeOnWindows(soon.pid ?? 0);
  const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;
  await waitFor("they are gone", () => [now, soon].every(hasEnded));
});

linux("what a server starts while it is being stopped", () => {
  test("is stopped too, though its parent leaves before it is looked at again", async () => {
    const child = await start("last-minute-helper", 1);
    await stop(child, false, { ...LIMITS, stdinEndMs: 5000 });
    expect(pids()).toHaveLength(2);
    expect(pids().filter(isAlive)).toEqual([]);
  }, 20_000);
});

linux("a zombie that nobody reaps, as in a container without an init", () => {
  const LONG = { ...LIMITS, stdinEndMs: 20_000 };

  /** A leader whose group holds a zombie: its parent has left the tree, and became a program that reaps nothing. */
  async function startWithZombie(beside = ""): Promise<ChildProcess> {
    const file = join(folder, "holder");
    const holding = `echo $$ > '${file}'; sleep 0.05 & exec setsid sleep 1000`;
    const leader = spawn("sh", ["-c", `(sh -c "$1" &); ${beside} exec cat`, "sh", holding], {
      detached: true,
      stdio: ["pipe", "ignore", "inherit"],
    });
    children.push(leader);
    const holder = await waitFor("its parent runs", () => written(file));
    outsiders.push(holder);
    const zombie = await waitFor("it was started", () => Number(read(`/proc/${holder}/task/${holder}/children`)));
    await waitFor("it is a zombie", () => !isAlive(zombie));
    await waitFor("its parent has left the group", () => groupOf(holder) === holder);
    expect(groupOf(zombie)).toBe(leader.pid);
    return leader;
  }

  function groupOf(pid: number): number {
    const stat = read(`/proc/${pid}/stat`);
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  }

  test("does not hold up the end of its tree", async () => {
    const leader = await startWithZombie();
    expect(await stop(leader, false, LONG)).toBeLessThan(10_000);
    expect(leader.exitCode).toBe(0);
  }, 30_000);

  test("does not hide a process of its group that still runs", async () => {
    const file = join(folder, "stubborn");
    const leader = await startWithZombie(`(sh -c 'trap "" TERM; echo $$ > "${file}"; exec sleep 1000' &);`);
    const stubborn = await waitFor("the other runs", () => written(file));
    outsiders.push(stubborn);
    expect(groupOf(stubborn)).toBe(leader.pid);
    await stop(leader);
    expect(isAlive(stubborn)).toBe(false);
  }, 30_000);

  function written(file: string): number {
    return existsSync(file) ? Number(read(file)) : 0;
  }

  function read(file: string): string {
    return readFileSync(file, "latin1");
  }
});

posix.each(WAYS)("the descendants of a process, found by %s", (_, processes) => {
  test("are found in all generations, groups and sessions, with the time of their start", async () => {
    const child = await start("stubborn-family", 3);
    const found = descendants(child.pid ?? 0, processes);
    expect(found.map(({ pid }) => pid).sort()).toEqual(
      pids()
        .filter((pid) => pid !== child.pid)
        .sort(),
    );
    expect(found.every((mark) => isSameProcess(mark, processes))).toBe(true);
    expect(isSameProcess({ pid: child.pid ?? 0, startedAt: "0" }, processes)).toBe(false);
  });

  test("of a process that is gone are none", () => {
    expect(descendants(4_000_000, processes)).toEqual([]);
    expect(isSameProcess({ pid: 4_000_000, startedAt: "1" }, processes)).toBe(false);
  });
});

(hasPs ? describe : describe.skip)("a ps that fails", () => {
  /** Fails in each of these runs, counted from 0. */
  function failing(runs: string): Ps {
    const [program, count] = [join(folder, "ps"), join(folder, "count")];
    const lines = [
      "#!/bin/sh",
      `read n < '${count}'`,
      `echo $((n + 1)) > '${count}'`,
      `case $n in ${runs}) exit 1;; esac`,
      'exec /bin/ps "$@"',
    ];
    writeFileSync(count, "0\n");
    writeFileSync(program, lines.join("\n"), { mode: 0o755 });
    return new Ps(program);
  }

  test.each([
    ["once at first", "0"],
    ["ever after", "[1-9]*"],
    ["now and then", "0|*[2468]"],
  ])("%s is not taken for the end of a process", async (_, runs) => {
    const child = await start("setsid-grandchild", 2);
    await stop(child, false, LIMITS, failing(runs));
    expect(pids().filter(isAlive)).toEqual([]);
  });
});

test("where ps cannot be run no descendants are found, and nothing fails", () => {
  const nowhere = new Ps(join(tmpdir(), "no-such-program"));
  expect(descendants(process.pid, nowhere)).toEqual([]);
  expect(isSameProcess({ pid: process.pid, startedAt: "1" }, nowhere)).toBe(false);
});
