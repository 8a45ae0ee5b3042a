/**
 * Runs every client scenario of the official conformance suite against the built plugin, through `driver.mjs`.
 * The referees need a newer Node than the plugin: npx brings one for them, while the driver runs on this one.
 * `node run.mjs [word]` runs only the scenarios whose line contains the word.
 */
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";

const PACKAGE = "@modelcontextprotocol/conformance";
const OLD = "0.1.16";
const NEW = "0.2.0-alpha.12";
const REQUIREMENTS = ["2025-11-25", "2026-07-28"];
const FIRST_AUTH_REVISION = "2025-03-26";
const NPX_MS = 240_000;
const SCENARIO_MS = 60_000;
/** They measure time: nothing else may run beside them. */
const ALONE = new Set(["sse-retry"]);
/** Shown, not counted, with the reason. */
const UNCOUNTED = new Map([
  [`${OLD} auth/2025-03-26-oauth-metadata-backcompat`, "its metadata names another issuer than the one that was asked"],
]);

const run = promisify(execFile);
const driver = [process.execPath, fileURLToPath(new URL("driver.mjs", import.meta.url))]
  .map((path) => `"${path}"`)
  .join(" ");
const only = process.argv[2] ?? "";

const [oldest, newest] = await Promise.all([referee(OLD), referee(NEW)]);
const jobs = (
  await Promise.all([allOf(oldest), ...REQUIREMENTS.map((revision) => requiredBy(newest, revision))])
).flat();
jobs.push(...jobsOf(newest, FIRST_AUTH_REVISION, await scenariosAt(newest, FIRST_AUTH_REVISION)));

const chosen = jobs.filter(({ title }) => title.includes(only));
const alone = chosen.filter(({ scenario }) => ALONE.has(scenario));
const beside = chosen.filter(({ scenario }) => !ALONE.has(scenario));
let passed = 0;
let failed = 0;
for (const job of alone) await perform(job);
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

async function worker() {
  for (let job = beside.shift(); job !== undefined; job = beside.shift()) await perform(job);
}

async function perform({ referee, title, options }) {
  const args = ["client", "--command", driver, ...options];
  const uncounted = UNCOUNTED.get(title);
  try {
    await run(referee.node, [referee.main, ...args], { timeout: SCENARIO_MS, maxBuffer: 64 * 1024 * 1024 });
    if (uncounted === undefined) passed++;
    console.log(`ok ${title}${uncounted === undefined ? "" : " (not counted)"}`);
  } catch (error) {
    if (uncounted !== undefined) return console.log(`not counted ${title}: ${uncounted}`);
    failed++;
    console.log(`FAILED ${title}\n${toldBy(error)}`);
  }
}

/** The output of a referee without colours and without what went well. */
function toldBy({ stdout = "", stderr, message }) {
  const lines = stripVTControlCharacters(`${stdout}\n${stderr ?? message}`).split("\n");
  const told = lines.filter(
    (line) => line.trim() !== "" && !/ (SUCCESS|INFO|SKIPPED) |DEP0190|trace-deprecation/.test(line),
  );
  return told.map((line) => `    ${line}`).join("\n");
}

/** One version of the suite, installed by npx with the Node that runs it. */
async function referee(version) {
  const args = ["-y", "-p", "node@24", "-p", `${PACKAGE}@${version}`, "--", "node", "-p", "process.execPath"];
  const npx = process.platform === "win32" ? ["npx.cmd", { shell: true }] : ["npx", {}];
  const { stdout } = await run(npx[0], args, { timeout: NPX_MS, ...npx[1] });
  const node = stdout.trim().split("\n").pop();
  const modules = dirname(dirname(dirname(node)));
  return { version, node, main: join(modules, ...PACKAGE.split("/"), "dist", "index.js") };
}

async function listed(referee, ...options) {
  const { stdout } = await run(referee.node, [referee.main, "list", ...options]);
  return stdout.slice(stdout.indexOf("Client scenarios"));
}

/** Every client scenario of a version, each at its own revision. */
async function allOf(referee) {
  const names = [...(await listed(referee)).matchAll(/^ {2}- (\S+) \[/gm)].map(([, name]) => name);
  return names.map((scenario) => ({
    referee,
    scenario,
    title: `${referee.version} ${scenario}`,
    options: ["--scenario", scenario],
  }));
}

/** What a revision requires, and what the suite runs beside it. */
async function requiredBy(referee, revision) {
  const text = await listed(referee, "--requirements", revision);
  const required = [...text.matchAll(/^ {2}- (\S+)$/gm)];
  const reported = [...text.matchAll(/^ {4}- (\S+) \[client\]$/gm)];
  return jobsOf(
    referee,
    revision,
    [...required, ...reported].map(([, name]) => name),
  );
}

/** The scenarios that apply to one revision only. */
async function scenariosAt(referee, revision) {
  return [...(await listed(referee)).matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)]
    .filter(([, , at]) => at === revision)
    .map(([, name]) => name);
}

/** The scenarios on the wire of one revision; a requirement outranks what a scenario says of its own applicability. */
function jobsOf(referee, revision, scenarios) {
  return scenarios.map((scenario) => ({
    referee,
    scenario,
    title: `${referee.version} ${revision} ${scenario}`,
    options: ["--scenario", scenario, "--spec-version", revision, "--force"],
  }));
}
