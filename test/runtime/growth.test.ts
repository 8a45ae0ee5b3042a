import { readdirSync } from "node:fs";
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
