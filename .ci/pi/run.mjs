/** One run of the real Pi, offline: a home and a project of its own, a scripted model, and a look at what is left. */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ScriptedModel } from "./model.mjs";

const EVENT_MS = 20_000;
const EXIT_MS = 15_000;

/**
 * Starts Pi. `files` are written below the home folder (`~/…`) or the project; `first` are commands of Pi's own to run
 * before; `answer` replies to the dialogs of its UI, by default with yes, the first choice, or "text".
 */
export async function startPi({
  pi,
  mode = "json",
  extensions = [],
  files = {},
  args = [],
  turns = [],
  prompt = "go",
  ...more
}) {
  const mark = `pi-run-${randomUUID()}`;
  const root = await mkdtemp(join(tmpdir(), "pi-run-"));
  // The name is in HOME, which every server gets, so that leftovers can be told from everything else.
  const home = join(root, mark);
  const project = join(root, "project");
  const agent = join(home, ".pi", "agent");
  const model = await new ScriptedModel().start();
  model.script(...turns);
  const provider = { baseUrl: model.baseUrl, apiKey: "none", api: "openai-completions" };
  const models = [{ id: "script", name: "Script", input: ["text", "image"], contextWindow: 200_000, maxTokens: 4096 }];
  await write(join(agent, "models.json"), { providers: { local: { ...provider, models } } });
  await write(join(agent, "settings.json"), { defaultProvider: "local", defaultModel: "script", ...more.settings });
  await mkdir(project, { recursive: true });
  for (const [path, content] of Object.entries(files))
    await write(path.startsWith("~/") ? join(home, path.slice(2)) : join(project, path), content);

  const modeArgs = mode === "print" ? ["--print"] : ["--mode", mode];
  const loaded = extensions.flatMap((path) => ["--extension", path]);
  const prompted = mode === "rpc" ? [] : ["--", prompt];
  const all = [
    pi.cli,
    ...modeArgs,
    "--model",
    "local/script",
    "--offline",
    "--no-session",
    ...loaded,
    ...args,
    ...prompted,
  ];
  const env = {
    PATH: [dirname(pi.node), process.env.PATH].join(delimiter),
    HOME: home,
    TMPDIR: tmpdir(),
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    PI_TELEMETRY: "0",
    ...more.env,
  };
  for (const command of more.first ?? [])
    await promisify(execFile)(pi.node, [pi.cli, ...command], { cwd: project, env, timeout: EXIT_MS });
  const startedAt = performance.now();
  const child = spawn(pi.node, all, { cwd: project, env, stdio: ["pipe", "pipe", "pipe"] });
  return new PiRun({
    child,
    model,
    mark,
    root,
    home,
    project,
    agent,
    mode,
    startedAt,
    answer: more.answer ?? defaultAnswer,
  });
}

class PiRun {
  events = [];
  stdout = "";
  stderr = "";
  exit;
  #facts;
  #wake = new Set();
  #seen = 0;
  #calls = 0;
  #ended;

  constructor(facts) {
    this.#facts = facts;
    const { child, mode } = facts;
    child.stdin.on("error", () => {}); // Pi may be gone already.
    if (mode !== "rpc") child.stdin.end();
    this.#ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.exit = { code, signal, at: performance.now() };
        resolve(this.exit);
        this.#notify();
      });
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      if (mode === "print") this.stdout += text;
      // Not by a line reader: U+2028 is no end of line here.
      const lines = mode === "print" ? [] : (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    });
  }

  get model() {
    return this.#facts.model;
  }

  get pid() {
    return this.#facts.child.pid;
  }

  get project() {
    return this.#facts.project;
  }

  get startedAt() {
    return this.#facts.startedAt;
  }

  /** Sends one RPC command; gives its response. */
  async command(type, more = {}) {
    const id = `command-${++this.#calls}`;
    this.#send({ id, type, ...more });
    return this.event(`the response to ${type}`, (event) => event.type === "response" && event.id === id, { from: 0 });
  }

  /** Sends a prompt and waits until Pi has done with it. */
  async prompt(message = "go") {
    const from = this.events.length;
    await this.command("prompt", { message });
    return this.event("agent_settled", ({ type }) => type === "agent_settled", { from });
  }

  /** The next event (after those waited for already, or after the `from`th) that fits. */
  async event(what, fits, { from = this.#seen } = {}) {
    const deadline = performance.now() + EVENT_MS;
    for (let at = from; ; at++) {
      while (at >= this.events.length) {
        if (this.exit !== undefined)
          throw new Error(`Pi ended before ${what}: ${JSON.stringify(this.exit)} ${this.stderr}`);
        const left = deadline - performance.now();
        if (left <= 0) throw new Error(`Waited in vain for ${what}. Last events: ${this.#last()} ${this.stderr}`);
        await this.#news(left);
      }
      if (!fits(this.events[at])) continue;
      this.#seen = Math.max(this.#seen, at + 1);
      return this.events[at];
    }
  }

  kill(signal) {
    this.#facts.child.kill(signal);
  }

  closeInput() {
    this.#facts.child.stdin.end();
  }

  /** Waits for the exit, and then for everything that Pi started; gives both, and what is still there. */
  async end({ graceMs = 1000 } = {}) {
    const timer = setTimeout(() => this.kill("SIGKILL"), EXIT_MS);
    const exit = await this.#ended;
    clearTimeout(timer);
    let left = processesOf(this.#facts.mark);
    while (left.length > 0 && performance.now() - exit.at < graceMs) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      left = processesOf(this.#facts.mark);
    }
    return { ...exit, left: left.map(({ command }) => command), wallMs: exit.at - this.startedAt };
  }

  /** The processes of this run besides Pi itself. */
  servers() {
    return processesOf(this.#facts.mark).filter(({ pid }) => pid !== this.pid);
  }

  async remove() {
    this.kill("SIGKILL");
    await this.#ended;
    for (const { pid } of processesOf(this.#facts.mark)) process.kill(pid, "SIGKILL");
    await this.model.stop();
    await rm(this.#facts.root, { recursive: true, force: true, maxRetries: 3 });
  }

  #take(line) {
    if (line.trim() === "") return;
    const event = { ...JSON.parse(line), at: performance.now() };
    this.events.push(event);
    const reply = event.type === "extension_ui_request" ? this.#facts.answer(event) : undefined;
    if (reply !== undefined) this.#send({ type: "extension_ui_response", id: event.id, ...reply });
    this.#notify();
  }

  #send(message) {
    this.#facts.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #notify() {
    for (const wake of this.#wake) wake();
  }

  async #news(milliseconds) {
    let wake;
    const news = new Promise((resolve) => {
      wake = resolve;
    });
    this.#wake.add(wake);
    const timer = setTimeout(wake, milliseconds);
    await news;
    clearTimeout(timer);
    this.#wake.delete(wake);
  }

  #last() {
    return this.events
      .slice(-5)
      .map((event) => JSON.stringify(event).slice(0, 200))
      .join("\n");
  }
}

function defaultAnswer({ method, options }) {
  if (method === "confirm") return { confirmed: true };
  if (method === "select") return { value: options[0] };
  return method === "input" ? { value: "text" } : undefined;
}

async function write(path, content) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** Every living process with the mark in its environment; none where the system does not show it. */
function processesOf(mark) {
  if (!existsSync("/proc/self/environ")) return [];
  const found = [];
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      if (!readFileSync(`/proc/${name}/environ`, "latin1").includes(mark)) continue;
      if (/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${name}/stat`, "latin1"))) continue;
      const command = readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ").trim();
      found.push({ pid: Number(name), command });
    } catch {
      // It has ended meanwhile, or is another user's.
    }
  }
  return found;
}
