/**
 * Does one thing very often, and looks whether anything grows: heap, descriptors, children, handles, listeners.
 *
 *   npm run build && node --expose-gc test/bench/soak.mjs [cycles=200] [calls=5000]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHost } from "../../dist/host/host.js";

const [cycles = 200, calls = 5000] = process.argv.slice(2).map(Number);
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "soak-"));
const server = { command: process.execPath, args: [at("../fixtures/servers/processes.mjs"), "plain"] };
writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { plain: server } }));
const target = { configPath: join(folder, "mcp.json"), server: "plain" };

const host = createHost({ cwd: folder, sessionId: "soak" });
await host.load(at("../.."));
const call = () => host.call("mcp_call", { ...target, tool: "echo", arguments: { text: "x" } });

let failed = 0;
for (const [name, times, work] of [
  ["connect, call, close", cycles, () => call().then(() => host.call("mcp_list", { ...target, action: "close" }))],
  ["calls one after another", calls, call],
  ["calls, 50 at a time", Math.ceil(calls / 50), () => Promise.all(Array.from({ length: 50 }, call))],
]) {
  // The first rounds fill what is bounded: compiled code, remembered pages, pools.
  const warm = Math.ceil(times / 4);
  for (let round = 0; round < warm; round++) await work();
  const before = measured();
  const begin = performance.now();
  for (let round = 0; round < times; round++) await work();
  const each = (performance.now() - begin) / times;
  const after = measured();
  report(name, times, each, before, after);
}
await host.shutdown();
rmSync(folder, { recursive: true, force: true });
const left = process.getActiveResourcesInfo().filter((kind) => !["TTYWrap", "PipeWrap", "FSReqPromise"].includes(kind));
check("nothing is left after the shutdown", left.length === 0 && children() === 0, `${left} ${children()} children`);
console.log(`${failed === 0 ? "flat" : `${failed} grew`}`);
process.exitCode = failed === 0 ? 0 : 1;

function measured() {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  const descriptors = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  return {
    heap: process.memoryUsage().heapUsed,
    descriptors,
    children: children(),
    handles: process.getActiveResourcesInfo().length,
    listeners,
  };
}

function children() {
  if (process.platform !== "linux") return 0;
  return readdirSync("/proc/self/task").reduce((sum, thread) => {
    const words = readFileSync(`/proc/self/task/${thread}/children`, "latin1").trim();
    return sum + (words === "" ? 0 : words.split(" ").length);
  }, 0);
}

function report(name, times, each, before, after) {
  const growth = after.heap - before.heap;
  console.log(
    `${name}: ${times} times, ${each.toFixed(2)} ms each, heap ${(before.heap / 1e6).toFixed(1)} -> ${(after.heap / 1e6).toFixed(1)} MB`,
  );
  if (globalThis.gc !== undefined) check("heap", growth < 1_000_000 + times * 100, `${growth} bytes`);
  for (const key of ["descriptors", "children", "handles", "listeners"])
    check(key, after[key] <= before[key] + 1, `${before[key]} -> ${after[key]}`);
}

function check(what, holds, facts) {
  console.log(`  ${holds ? "ok  " : "GREW"} ${what}: ${facts}`);
  if (!holds) failed++;
}
