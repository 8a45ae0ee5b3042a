import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { defined } from "../defined.ts";
import { reasonOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { failureOf } from "./failure.ts";
import { type CommandContext, type Session, withSession } from "./session.ts";
import { wholeBlocks } from "./text-result.ts";
import { usage } from "./usage.ts";

interface Line {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const MiB = 1024 * 1024;

/** `rpi-mcp run FILE|-`: each line is answered by one line, in order; a line that fails does not end the run. */
export async function run(words: readonly string[], context: CommandContext): Promise<number> {
  const [file, ...others] = words;
  if (file === undefined || others.length > 0) throw usage("run needs one FILE, or - for stdin");
  const { terminal, signal } = context;
  return withSession(context, async (session) => {
    let failed = false;
    let number = 0;
    for await (const text of lines(file, signal)) {
      number++;
      if (signal.aborted) break;
      if (text?.trim() === "") continue;
      try {
        const { tool, params } = read(text, number);
        const result = await terminal.busy(
          `Line ${number}: ${tool}`,
          (update) => session.call({ tool, params: withTarget(params, session), onPartial: update }),
          true,
        );
        await terminal.json({ ...result, content: wholeBlocks(result) });
      } catch (error) {
        if (signal.aborted) break;
        failed = true;
        await terminal.json({ error: failureOf(error) });
      }
    }
    return failed ? 1 : 0;
  });
}

/**
 * Not by `node:readline`: newer ones take U+2028, which JSON has in its texts, for the end of a line, and what a text says next
 * would be run.
 * A line that is too long is given as none as soon as it is.
 * @throws AdapterError `cli.usage` where the file cannot be read.
 */
async function* lines(file: string, signal: AbortSignal): AsyncGenerator<string | undefined> {
  const input: Readable = file === "-" ? process.stdin : createReadStream(file);
  addAbortSignal(signal, input.setEncoding("utf8"));
  let begun: string[] = [];
  let bytes = 0;
  try {
    for await (const chunk of input) {
      for (const [at, piece] of String(chunk).split("\n").entries()) {
        if (at > 0) {
          if (bytes <= LIMITS.messageBytes) yield begun.join("");
          begun = [];
          bytes = 0;
        }
        if (bytes > LIMITS.messageBytes) continue;
        bytes += Buffer.byteLength(piece);
        begun.push(piece);
        if (bytes <= LIMITS.messageBytes) continue;
        begun = [];
        yield undefined;
      }
    }
    if (bytes <= LIMITS.messageBytes) yield begun.join("");
  } catch (error) {
    if (!signal.aborted) throw usage(`Cannot read ${file}: ${reasonOf(error)}`);
  }
}

/** @throws AdapterError `cli.usage` */
function read(text: string | undefined, number: number): Line {
  if (text === undefined) throw usage(`Line ${number} is longer than ${LIMITS.messageBytes / MiB} MiB and was not run`);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw usage(`Line ${number} is not valid JSON: ${reasonOf(error)}`);
  }
  if (!isObject(value)) throw usage(`Line ${number} must be an object {"tool", "params"}`);
  const { tool, params = {} } = value;
  if (typeof tool !== "string")
    throw usage(`Line ${number} names no tool: "tool" must be mcp_list, mcp_call or mcp_request`);
  if (!isObject(params)) throw usage(`Line ${number}: "params" must be an object`);
  // As the tools read them: what is null or empty is not given, and the command line's word counts.
  return {
    tool,
    params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null && value !== "")),
  };
}

/** `--config`, or `--url`, count for lines that name no file and no address themselves. */
function withTarget(params: Line["params"], session: Session): Record<string, unknown> {
  if (params["url"] !== undefined || params["configPath"] !== undefined) return params;
  if (params["server"] === undefined) return { ...session.target(), ...params };
  return { ...defined({ configPath: session.configPath }), ...params };
}
