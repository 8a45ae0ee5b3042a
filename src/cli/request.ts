import type { AgentToolResult } from "../contract.ts";
import { defined } from "../defined.ts";
import { readArguments } from "./arguments.ts";
import { failureOf, statusOf, tell } from "./failure.ts";
import { checkOutput, saveOutput } from "./save-output.ts";
import { type CommandContext, withSession } from "./session.ts";
import { responseText } from "./text-result.ts";
import { splitWords } from "./words.ts";

const NO_HANDSHAKE =
  "A raw request makes no handshake; this server may want one. Configure it and give its name, or add --header.";
/** How servers that insist on a handshake refuse a request without one. */
const REFUSALS = new Set(["http_error", "rpc_error", "protocol_error", "session_expired"]);

/** `rpi-mcp request SERVER METHOD [PARAMS...]` */
export async function request(words: readonly string[], context: CommandContext): Promise<number> {
  const { options, terminal, signal } = context;
  const { server, name: method, rest } = splitWords("request", "METHOD", words, options);
  const { values } = await readArguments(rest, "PARAMS", signal);
  await checkOutput(options.output);
  const raw = options.url !== undefined && options.header === undefined;
  return withSession(context, async (session) => {
    const params = {
      ...session.target(server),
      method,
      params: values,
      ...defined({ id: options.id }),
    };
    let result: AgentToolResult;
    try {
      result = await terminal.busy(
        `Requesting ${method}`,
        (update) => session.call({ tool: "mcp_request", params, onPartial: update }),
        options.json !== true,
      );
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = failureOf(error);
      tell(failure, context);
      const { status, hint } = failure.details;
      const told = hint !== undefined || status === 404 || status === 405;
      if (raw && REFUSALS.has(failure.code) && !told) terminal.note(NO_HANDSHAKE);
      return statusOf(failure);
    }
    if (options.json === true) await terminal.json(result);
    else await terminal.print(responseText(result.details));
    if (raw && result.details?.["error"] !== undefined) terminal.note(NO_HANDSHAKE);
    if (options.output === undefined) return 0;
    return (await saveOutput(result.details, options.output, { done: "The server answered", terminal })) ? 0 : 1;
  });
}
