import type { AgentToolResult } from "../contract.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Target } from "../runtime/target.ts";
import { type Arguments, readArguments } from "./arguments.ts";
import { failureOf, statusOf, tell } from "./failure.ts";
import { checkOutput, saveOutput } from "./save-output.ts";
import { type CommandContext, type Session, withSession } from "./session.ts";
import { resultText, wholeBlocks } from "./text-result.ts";
import { splitWords } from "./words.ts";

/** `rpi-mcp call SERVER TOOL [ARGUMENTS...]` */
export async function call(words: readonly string[], context: CommandContext): Promise<number> {
  const { options, terminal, signal } = context;
  const { server, name: tool, rest } = splitWords("call", "TOOL", words, options);
  const given = await readArguments(rest, "ARGUMENTS", signal);
  await checkOutput(options.output);
  return withSession(context, async (session) => {
    const target = session.target(server);
    let result: AgentToolResult;
    try {
      const work = async (update: (text: string) => void): Promise<AgentToolResult> => {
        const args = await typed(given, tool, target, session);
        return session.call({ tool: "mcp_call", params: { ...target, tool, arguments: args }, onPartial: update });
      };
      // With --json a failure on stderr is JSON, and nothing else may stand there.
      result = await terminal.busy(`Calling ${tool}`, work, options.json !== true);
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = failureOf(error);
      tell(failure, context);
      const { mcpResult } = failure.details;
      if (options.output !== undefined && mcpResult !== undefined)
        await saveOutput(mcpResult, options.output, { done: "The tool ran", terminal });
      return statusOf(failure);
    }
    const content = wholeBlocks(result);
    if (options.json === true) await terminal.json({ ...result, content });
    else await terminal.print(resultText(result));
    if (options.output === undefined) {
      if (content.some(({ type }) => type === "image")) terminal.note("--output FILE saves the image.");
      return 0;
    }
    const saved = await saveOutput(result.details?.["mcpResult"], options.output, { done: "The tool ran", terminal });
    return saved ? 0 : 1;
  });
}

/** `zip=02134` and `id=42` mean a text where the tool wants one: only then its parameters are looked at. */
async function typed(
  { values, ambiguous }: Arguments,
  tool: string,
  target: Target,
  session: Session,
): Promise<Record<string, unknown>> {
  if (ambiguous.size === 0) return values;
  const { details } = await session.call({ tool: "mcp_list", params: { ...target, tool } });
  const tools: readonly unknown[] = Array.isArray(details?.["tools"]) ? details["tools"] : [];
  const [item] = tools;
  const schema = isObject(item) && isObject(item["inputSchema"]) ? item["inputSchema"] : {};
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const text = ambiguous.get(key);
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      return [key, text !== undefined && wantsText(property, value) ? text : value];
    }),
  );
}

/** Whether a schema takes nothing but a text for this value: what may be null besides stays null. */
function wantsText(schema: unknown, value: unknown): boolean {
  const types = new Set(typesOf(schema));
  if (types.delete("null") && value === null) return false;
  return types.size === 1 && types.has("string");
}

function typesOf(schema: unknown): readonly unknown[] {
  if (!isObject(schema)) return [undefined];
  const { type, anyOf, oneOf } = schema;
  const options = anyOf ?? oneOf;
  if (type !== undefined || !Array.isArray(options)) return [type].flat();
  return options.flatMap((option) => (isObject(option) ? [option["type"]].flat() : [undefined]));
}
