import { stat } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { atMost } from "../at-most.ts";
import type { CancelListener, Cancellation } from "../cancellation.ts";
import { cut } from "../cut.ts";
import { AdapterError, reasonOf } from "../errors.ts";
import type { Limits } from "../limits.ts";
import type { Wire } from "../protocol/dialect.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import type { Redactor } from "../redactor.ts";
import { readable } from "../remote-text.ts";
import type { StdioEndpoint } from "../server-spec.ts";
import { soon } from "../soon.ts";
import { encodeMessage, labelOf } from "./encode.ts";
import { serverEnvironment } from "./environment.ts";
import { LineSplitter, messageWithin } from "./lines.ts";
import { NotStarted } from "./not-started.ts";
import { stopTree } from "./process-tree.ts";
import { reaper } from "./reaper.ts";
import { spawnProcess } from "./spawn.ts";
import type { ExitStatus, SpawnedProcess } from "./spawned.ts";
import { StderrTail } from "./stderr-tail.ts";
import { HANDED_OVER, type SendOptions, type Sink, type Transport } from "./transport.ts";

const SKIPPED_LINES = 5;
const SKIPPED_CHARACTERS = 120;
const SKIPPED_BYTES = 4 * SKIPPED_CHARACTERS;
/** Longer messages are written at once, and waited for. */
const DIRECT_CHARACTERS = 65_536;
const LINES_A_WRITE = 16;
/** How long the output of a process that has ended, or the end of a process whose output has ended, is waited for. */
const SETTLE_MS = 700;

export interface StdioTransportOptions {
  readonly server: string;
  readonly endpoint: StdioEndpoint;
  readonly limits: Limits;
  readonly redactor: Redactor;
}

/** One child process that speaks one message a line (Transports, stdio). */
export class StdioTransport implements Transport {
  readonly kind = "stdio";
  readonly ownStream = false;
  readonly #server: string;
  readonly #endpoint: StdioEndpoint;
  readonly #limits: Limits;
  readonly #stderr: StderrTail;
  readonly #skipped: string[] = [];
  readonly #direct: number;
  #sink: Sink | undefined;
  #process: SpawnedProcess | undefined;
  #exit: ExitStatus | undefined;
  /** Never rejects. */
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #broken = false;
  #lines: string[] = [];

  constructor({ server, endpoint, limits, redactor }: StdioTransportOptions) {
    this.#server = server;
    this.#endpoint = endpoint;
    this.#limits = limits;
    this.#stderr = new StderrTail(limits.stderrBytes, redactor);
    // So short that it cannot exceed the limit, at three bytes a character.
    this.#direct = Math.min(DIRECT_CHARACTERS, limits.messageBytes / 3);
  }

  async open(sink: Sink): Promise<void> {
    this.#sink = sink;
    const opening = this.#start(sink);
    this.#opening = opening.catch(() => undefined);
    await opening;
  }

  adopt(_wire: Wire): void {}

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    const line = `${encodeMessage(message)}\n`;
    const child = this.#process;
    if (child === undefined || line.length >= this.#direct || child.stdin.writableNeedDrain || !this.#isRunning)
      return this.#sendWaiting(message, line, options);
    options?.mayRun?.(true);
    this.#lines.push(line);
    // Messages that are sent together share a write; of many, the server begins with the first while the rest is prepared.
    if (this.#lines.length === 1) void soon(() => this.#flush(child));
    else if (this.#lines.length === LINES_A_WRITE) this.#flush(child);
    return HANDED_OVER;
  }

  async #sendWaiting(message: JsonRpcMessage, line: string, options: SendOptions | undefined): Promise<void> {
    this.#checkSize(message, line);
    let child = this.#running();
    // While an earlier message is only half written this one waits its turn, and can still be given up without harm.
    while (child.stdin.writableNeedDrain) {
      if (!(await drain(child.stdin, options?.cancellation)))
        throw new AdapterError("cancelled", { server: this.#server });
      child = this.#running();
    }
    options?.mayRun?.(true);
    this.#lines.push(line);
    if (!this.#flush(child)) await this.#drained(child, message, options);
  }

  diagnostics(): Readonly<Record<string, unknown>> {
    const stderr = this.#stderr.text();
    return {
      ...this.#exit,
      ...(stderr === "" ? {} : { stderr }),
      ...(this.#skipped.length === 0 ? {} : { skippedLines: [...this.#skipped] }),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #start(sink: Sink): Promise<void> {
    const { command, args, cwd } = this.#endpoint;
    await this.#checkWorkingDirectory(cwd);
    if (this.#closing !== undefined)
      throw new AdapterError("closed.stopped", { server: this.#server, outcomeUnknown: false });
    let child: SpawnedProcess;
    try {
      child = await spawnProcess({
        command,
        args,
        cwd,
        env: serverEnvironment(this.#endpoint, process.env, process.platform),
      });
    } catch (error) {
      const facts = { server: this.#server, command, reason: whyNotStarted(error) };
      throw new AdapterError("spawn.failed", error instanceof NotStarted ? { ...facts, isThere: true } : facts, {
        cause: error,
      });
    }
    reaper().add(child.pid);
    this.#process = child;
    this.#listen(child, sink);
  }

  /** A process that is still being started is waited for, so that it is ended too. */
  async #end(): Promise<void> {
    if (this.#process === undefined) await this.#opening;
    if (this.#process !== undefined) await this.#stop(this.#process, this.#broken);
  }

  async #checkWorkingDirectory(cwd: string): Promise<void> {
    const found = await stat(cwd).catch(() => undefined);
    if (found?.isDirectory() !== true) throw new AdapterError("spawn.cwd", { server: this.#server, cwd });
  }

  #listen(child: SpawnedProcess, sink: Sink): void {
    const lines = new LineSplitter(
      this.#limits.messageBytes,
      (line) => this.#receive(line, sink),
      () =>
        this.#fail(
          new AdapterError("limit.message", {
            server: this.#server,
            limitBytes: this.#limits.messageBytes,
            outcomeUnknown: true,
          }),
        ),
    );
    // Messages that wait for a server to read each listen for that; their number has its own bounds.
    child.stdin.setMaxListeners(0);
    const ended = (pipe: Readable): Promise<void> => new Promise<void>((resolve) => pipe.once("close", resolve));
    const [outputEnded, errorsEnded] = [ended(child.stdout), ended(child.stderr)];
    child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stdout.once("end", () => lines.end());
    child.stderr.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    // Errors of the pipes (EPIPE, ECONNRESET) are met again as the end of the process or of its output.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on("error", () => undefined);
    void this.#watch(child, outputEnded, errorsEnded);
  }

  /** Reports the end once, with its reason: what the process wrote before it ended is read first. */
  async #watch(child: SpawnedProcess, outputEnded: Promise<void>, errorsEnded: Promise<void>): Promise<void> {
    const exited = child.exited.then((status) => {
      this.#exit = status;
    });
    const inputClosed = new Promise<void>((resolve) => child.stdin.once("close", resolve));
    await Promise.race([exited, outputEnded, inputClosed]);
    await atMost(Promise.all([exited, outputEnded, errorsEnded]), SETTLE_MS, undefined);
    const reason = this.#exit === undefined ? "it closed its pipes" : "the process ended";
    this.#fail(
      new AdapterError("closed", { server: this.#server, reason, outcomeUnknown: true, ...this.diagnostics() }),
    );
  }

  #receive(line: Buffer, sink: Sink): void {
    if (this.#closing !== undefined || this.#broken) return;
    if (sink.message(line)) return;
    const message = messageWithin(line);
    if ((message !== undefined && sink.message(message)) || this.#skipped.length >= SKIPPED_LINES) return;
    const text = readable(line.toString("utf8", 0, SKIPPED_BYTES)).trim();
    if (text !== "") this.#skipped.push(cut(text, SKIPPED_CHARACTERS, line.length > SKIPPED_BYTES));
  }

  get #isRunning(): boolean {
    return !this.#broken && this.#closing === undefined;
  }

  /** @throws AdapterError `closed`, nothing was written. */
  #running(): SpawnedProcess {
    if (this.#process !== undefined && this.#isRunning) return this.#process;
    throw new AdapterError("closed", {
      server: this.#server,
      reason: "it is not running",
      outcomeUnknown: false,
      ...this.diagnostics(),
    });
  }

  /** Whether all bytes are with the operating system. */
  #flush(child: SpawnedProcess): boolean {
    const lines = this.#lines;
    if (lines.length === 0 || !this.#isRunning) return true;
    this.#lines = [];
    return child.stdin.write(lines.length === 1 ? lines[0] : lines.join(""));
  }

  #checkSize(message: JsonRpcMessage, line: string): void {
    const limitBytes = this.#limits.messageBytes;
    // A character has at most three bytes in UTF-8; only long lines are counted.
    if (line.length * 3 <= limitBytes) return;
    const bytes = Buffer.byteLength(line) - 1; // Its line end is no part of a message.
    if (bytes <= limitBytes) return;
    throw new AdapterError("limit.outgoing", { server: this.#server, method: labelOf(message), bytes, limitBytes });
  }

  /** The server reads slowly: the bytes are on their way, but not all with the operating system yet. */
  async #drained(child: SpawnedProcess, message: JsonRpcMessage, options: SendOptions | undefined): Promise<void> {
    if (await drain(child.stdin, options?.cancellation)) return;
    // A half-written line cannot be taken back: whatever follows would be read as its end.
    const reason = `it stopped reading while ${labelOf(message)} was being written`;
    const error = new AdapterError("closed", { server: this.#server, reason, outcomeUnknown: true });
    this.#fail(error);
    throw error;
  }

  #fail(error: AdapterError): void {
    if (this.#broken || this.#closing !== undefined) return;
    this.#broken = true;
    this.#sink?.closed(error);
    // What is left of the tree goes too, whether or not the listener closes us.
    void this.close();
  }

  async #stop(child: SpawnedProcess, atOnce: boolean): Promise<void> {
    const root = { pid: child.pid, hasExited: child.hasExited, endInput: () => child.stdin.end() };
    await stopTree(root, this.#limits, atOnce);
    reaper().remove(child.pid);
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  }
}

/** Node's own words repeat the command, and have no others for what is not there. */
function whyNotStarted(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === "ENOENT" && syscall !== undefined ? "it was not found (ENOENT)" : reasonOf(error);
}

/** Resolves with `true` when everything written is with the operating system, or can never be; `false` if it was given up before. */
function drain(stdin: Writable, cancellation: Cancellation | undefined): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    const settle = (drained: boolean): void => {
      stdin.off("drain", onDrain);
      stdin.off("close", onDrain);
      cancellation?.delete(listener);
      resolve(drained);
    };
    const onDrain = (): void => settle(true);
    const listener: CancelListener = { onCancel: () => settle(false) };
    stdin.once("drain", onDrain);
    stdin.once("close", onDrain);
    if (stdin.destroyed) onDrain();
    else cancellation?.add(listener);
  });
}
