/**
 * What this package costs beside the official SDK's client, in the same run: `npm run bench [-- --rounds N --out FILE]`.
 * Rounds are interleaved; a ratio is taken within a round, and the median of the ratios is shown.
 */
import { execFileSync, fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { plot } from "./plot.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, out: { type: "string" }, svg: { type: "string" } },
});
const rounds = Number(values.rounds);
const NAMES = ["ours", "sdk"];
const SIZES = [1, 10, 100, 300, 1000];

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

class Worker {
  constructor(name) {
    this.name = name;
    this.process = fork(join(here, "worker.mjs"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  }

  run(task, args) {
    return new Promise((resolve, reject) => {
      this.process.once("message", ({ value, error }) =>
        error === undefined ? resolve(value) : reject(new Error(error)),
      );
      this.process.send({ task, name: this.name, args });
    });
  }

  async end() {
    await this.run("close");
    this.process.disconnect();
  }
}

/** CPU of an import in a fresh process, in milliseconds. */
function importCost(specifiers) {
  const code = `const c = process.cpuUsage(); ${specifiers.map((path) => `await import(${JSON.stringify(path)});`).join(" ")}
    const u = process.cpuUsage(c); console.log((u.user + u.system) / 1000);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: join(here, "..", "..") }));
}

async function interleaved(workers, task, args, field) {
  const samples = Object.fromEntries(NAMES.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const worker of round % 2 ? [...workers].reverse() : workers)
      samples[worker.name].push((await worker.run(task, args))[field]);
  return samples;
}

const rows = [];
function row(what, samples, unit) {
  const ratio = median(samples.ours.map((value, index) => value / samples.sdk[index]));
  rows.push({ what, unit, ours: median(samples.ours), sdk: median(samples.sdk), ratio });
}

const imports = { ours: [], sdk: [] };
for (let round = 0; round < rounds; round++) {
  imports.ours.push(importCost(["./dist/host/host.js", "./dist/index.js"]));
  imports.sdk.push(
    importCost(["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"]),
  );
}
row("import, CPU", imports, "ms");

const workers = NAMES.map((name) => new Worker(name));
const curve = [];
for (const tools of SIZES) {
  const iterations = Math.max(20, Math.round(600 / Math.sqrt(tools)));
  for (const worker of workers) await worker.run("sequential", { tools, iterations });
  const samples = await interleaved(workers, "sequential", { tools, iterations }, "p50");
  row(`discovery and call, ${tools} tools, p50`, samples, "µs");
  curve.push({ tools, ours: median(samples.ours), sdk: median(samples.sdk) });
}
row(
  "discovery and call, 100 tools, CPU",
  await interleaved(workers, "sequential", { tools: 100, iterations: 100 }, "cpu"),
  "µs",
);
row(
  "64 calls in flight, calls a second",
  await interleaved(workers, "parallel", { tools: 1, iterations: 3000 }, "perSecond"),
  "1/s",
);
row("one result of 8 MiB", await interleaved(workers, "big", { bytes: 8 * 1024 * 1024 }, "milliseconds"), "ms");
for (const worker of workers) await worker.end();

const show = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
console.log(
  `Node ${process.version}, ${rounds} rounds; ours includes the discovery before every call, as does the SDK's here.\n`,
);
console.log("| measure | ours | official SDK | ours / SDK |\n| --- | ---: | ---: | ---: |");
for (const { what, unit, ours, sdk, ratio } of rows)
  console.log(`| ${what} | ${show(ours)} ${unit} | ${show(sdk)} ${unit} | ${ratio.toFixed(2)} |`);
if (values.out) writeFileSync(values.out, JSON.stringify({ node: process.version, rows, curve }, null, 2));
if (values.svg) writeFileSync(values.svg, plot(curve));
