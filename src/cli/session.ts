import { statSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { AgentToolResult, HostServices } from "../contract.ts";
import { defined } from "../defined.ts";
import type { Host } from "../host/host.ts";
import { quote } from "../messages.ts";
import { fromProcessFolder, processFolder } from "../process-folder.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { quoteText, readable } from "../remote-text.ts";
import type { Target } from "../runtime/target.ts";
import type { Options } from "./options.ts";
import { type PrivateConfig, writeProgram, writeRemote } from "./private-config.ts";
import type { Terminal } from "./terminal.ts";
import { usage } from "./usage.ts";

/** What every command works with. */
export interface CommandContext {
  readonly options: Options;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C and the like. */
  readonly signal: AbortSignal;
}

interface CallTool {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly onPartial?: (text: string) => void;
}

/** The config file that the latest call names; calls at the same time all name the same. */
interface Named {
  configPath: string | undefined;
}

/** The plugin's own folder, from src/cli as from a chunk in dist. */
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const LOGGED = new Set(["warning", "error", "critical", "alert", "emergency"]);
const LOG_CHARACTERS = 2000;

/** A host with the plugin loaded, for one command. */
export class Session {
  readonly cwd: string;
  readonly #context: CommandContext;
  readonly #host: Host;
  readonly #private: PrivateConfig | undefined;
  readonly #named: Named;

  constructor(context: CommandContext, host: Host, cwd: string, own: PrivateConfig | undefined, named: Named) {
    this.cwd = cwd;
    this.#context = context;
    this.#host = host;
    this.#private = own;
    this.#named = named;
  }

  /** Whether the program was told to end: failures are then not reported. */
  get isEnding(): boolean {
    return this.#context.signal.aborted;
  }

  /** The file that counts alone, if one was named. */
  get configPath(): string | undefined {
    const { config } = this.#context.options;
    return this.#private?.configPath ?? (config === undefined ? undefined : fromProcessFolder(config));
  }

  /** The target of a call: the server that `--url` or `-- PROGRAM` gives, else the named one. */
  target(server?: string): Target {
    const { url } = this.#context.options;
    const { configPath } = this;
    if (this.#private !== undefined) return { server: this.#private.server, configPath: this.#private.configPath };
    if (url !== undefined) return { url };
    return defined({ server, configPath });
  }

  /** Calls one of the three tools, with `--timeout` unless the parameters say otherwise. @throws StepError */
  async call({ tool, params, onPartial }: CallTool): Promise<AgentToolResult> {
    const { timeout } = this.#context.options;
    const { configPath } = params;
    this.#named.configPath = typeof configPath === "string" ? configPath : undefined;
    const all = { ...defined({ timeoutSeconds: timeout }), ...params };
    const progress = onPartial && ((partial: AgentToolResult): void => onPartial(progressText(partial)));
    try {
      return await this.#host.call(tool, all, {
        signal: this.#context.signal,
        ...defined({ onPartial: progress }),
      });
    } catch (error) {
      throw this.#private === undefined ? error : this.#private.retold(error);
    }
  }
}

/** Runs work with a session, and tears everything down after it, whatever happens. */
export async function withSession<T>(context: CommandContext, work: (session: Session) => Promise<T>): Promise<T> {
  const { options } = context;
  const cwd = workingFolder(options);
  if (options.header !== undefined && options.url === undefined) {
    throw usage("--header needs --url", "Headers of a configured server go in its entry.");
  }
  checkProgram(options);
  const roots = (options.root ?? []).map(folder);
  const { createHost } = await import("../host/host.ts");
  const named: Named = { configPath: undefined };
  const services = await servicesFor(context, roots, named);
  const host = createHost({ cwd, services, ...(options.trust === true ? { trust: "always" } : {}) });
  const own = await ownConfig(options);
  try {
    await host.load(PACKAGE);
    return await work(new Session(context, host, cwd, own, named));
  } finally {
    await host.shutdown();
    await own?.remove();
  }
}

function checkProgram({ program, url, config }: Options): void {
  if (program === undefined) return;
  if (program[0] === undefined || program[0] === "")
    throw usage("-- needs a program after it", "For example: rpi-mcp list -- npx -y @playwright/mcp");
  if (url !== undefined) throw usage("The server is either that of --url or the program after --");
  if (config !== undefined) throw usage("The program after -- is the server; --config names a file with others");
}

/** A config file for a server that only the command line knows, where its address alone is not enough. */
function ownConfig({ program, url, header }: Options): Promise<PrivateConfig> | undefined {
  if (program !== undefined) return writeProgram(program);
  return url === undefined || header === undefined ? undefined : writeRemote(url, header);
}

/** `--cwd`, else the process's own. @throws AdapterError `cli.usage`, `cwd.gone` */
export function workingFolder({ cwd }: Options): string {
  return cwd === undefined ? processFolder() : folder(cwd);
}

function folder(path: string): string {
  const absolute = fromProcessFolder(path);
  if (statSync(absolute, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`There is no folder ${quote(path)}`);
  return absolute;
}

async function servicesFor(
  { options, terminal }: CommandContext,
  roots: readonly string[],
  named: Named,
): Promise<HostServices> {
  const { Person } = await import("./person.ts");
  const { elicitor } = await import("./elicit.ts");
  const person = new Person(terminal);
  const log: HostServices["log"] = ({ level, server, message }) => {
    if (!terminal.interactive || !LOGGED.has(level)) return;
    terminal.note(
      terminal.styleNote("dim", `[${quoteText(server, 80)}: ${level}] ${readable(message).slice(0, LOG_CHARACTERS)}`),
    );
  };
  const services: HostServices = { elicit: elicitor(person, terminal), log };
  if (roots.length > 0) {
    services.listRoots = async () =>
      roots.map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) || path }));
  }
  if (terminal.interactive && options.trust !== true) {
    const { approver } = await import("./approve.ts");
    services.approve = approver(() => named.configPath, person);
  }
  return services;
}

function progressText({ content, details }: AgentToolResult): string {
  const progress = details?.["progress"];
  const [first] = content;
  const text = first?.type === "text" ? first.text : "";
  if (!isObject(progress)) return text;
  const { progress: done, total, message } = progress;
  if (typeof done !== "number" || typeof total !== "number" || total <= 0) return text;
  const share = `${Math.min(100, Math.max(0, Math.round((100 * done) / total)))}%`;
  return typeof message === "string" ? `${share} ${message}` : share;
}
