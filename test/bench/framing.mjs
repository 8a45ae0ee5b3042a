/**
 * Large answers in small writes cost linear time, and output without a line end is given up at 16 MiB with bounded memory.
 *
 *   npm run build && node test/bench/framing.mjs
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHost } from "../../dist/host/host.js";

const MiB = 1024 * 1024;
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "framing-"));
const fixture = (mode) => ({ command: process.execPath, args: [at("../fixtures/servers/framing.mjs"), mode] });
writeFileSync(
  join(folder, "mcp.json"),
  JSON.stringify({ mcpServers: { large: fixture("large"), endless: fixture("endless") } }),
);
const host = createHost({ cwd: folder, sessionId: "framing" });
await host.load(at("../.."));
const configPath = join(folder, "mcp.json");

async function seconds(bytes) {
  const begin = performance.now();
  const { details } = await host.call("mcp_call", { configPath, server: "large", tool: "echo", arguments: { bytes } });
  if (details.mcpResult.content[0].text.length !== bytes) throw new Error("the answer is not whole");
  return (performance.now() - begin) / 1000;
}

let peak = process.memoryUsage().rss;
const before = peak;
const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
const begin = performance.now();
const error = await host
  .call("mcp_call", { configPath, server: "endless", tool: "flood", arguments: { mebibytes: 64 } })
  .catch((thrown) => thrown);
clearInterval(watch);
const extra = (peak - before) / MiB;
console.log(
  `64 MiB without a line end: ${error.code} after ${Math.round(performance.now() - begin)} ms, at most ${extra.toFixed(1)} MiB more`,
);
const bounded = error.code === "limit_exceeded" && extra < 100;
console.log(bounded ? "bounded" : "NOT bounded");

await seconds(MiB);
const sizes = [3, 6, 12];
const times = [];
for (const size of sizes) times.push(Math.min(await seconds(size * MiB), await seconds(size * MiB)));
for (const [index, size] of sizes.entries())
  console.log(`${size} MiB in writes of 1 KiB: ${times[index].toFixed(2)} s`);
const linear = times[2] < 3 * times[1] + 0.2 && times[1] < 3 * times[0] + 0.2;
console.log(linear ? "linear" : "NOT linear");

await host.shutdown();
rmSync(folder, { recursive: true, force: true });
process.exitCode = linear && bounded ? 0 : 1;
