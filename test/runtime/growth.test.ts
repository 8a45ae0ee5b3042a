import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "@jest/globals";
import { harnesses, type PluginHarness } from "../support/plugin-harness.ts";
import { childrenOf, waitFor } from "../support/wait.ts";

const make = harnesses();

interface Counts {
  readonly descriptors: number;
  readonly children: number;
  readonly handles: number;
  readonly listeners: number;
}

function counts(): Counts {
  return {
    descriptors: process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0,
    children: childrenOf(process.pid).length,
    handles: process.getActiveResourcesInfo().filter((kind) => kind !== "Timeout").length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

/** Fails if anything counted is more, after so many rounds, than it was. */
async function staysFlat(
  host: PluginHarness,
  warm: number,
  rounds: number,
  work: () => Promise<unknown>,
): Promise<void> {
  for (let round = 0; round < warm; round++) await work();
  const before = counts();
  for (let round = 0; round < rounds; round++) await work();
  const grown = (): string[] => {
    const after = counts();
    return (Object.keys(before) as (keyof Counts)[]).filter((key) => after[key] > before[key]);
  };
  await waitFor("nothing has grown", () => grown().length === 0, 3000).catch(() => expect(grown()).toEqual([]));
  expect(host.ledger("plain").length).toBeGreaterThan(rounds);
}

test("connect, call and close, again and again, leave no descriptor, child, handle or listener behind", async () => {
  const host = make().serve("plain", "processes", "plain");
  await staysFlat(host, 2, 8, async () => {
    await host.call("plain", "echo");
    await host.run("mcp_list", { configPath: host.configPath, server: "plain", action: "close" });
  });
}, 40_000);

test("hundreds of calls on one connection leave no descriptor, child, handle or listener behind", async () => {
  const host = make().serve("plain", "processes", "plain");
  await staysFlat(host, 50, 300, () => host.call("plain", "echo"));
  expect(host.pids("plain")).toHaveLength(1);
}, 40_000);

test("the sessions that a host once had take no memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const host = make().configure("any", { command: "any" });
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const sessions = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) {
      host.context = { cwd: host.folder, sessionId: `${at} of ${count} `.padEnd(10_000, "x") };
      await host.run("mcp_list", { configPath: host.configPath });
    }
  };
  await sessions(1500);
  const before = used();
  await sessions(3000);
  expect(used() - before).toBeLessThan(15_000_000);
}, 40_000);
