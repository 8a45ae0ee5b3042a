import { type AgentToolResult, type ContentBlock, HOST_CONTEXT_KEY } from "../contract.ts";
import type { Limits } from "../limits.ts";
import { quote } from "../messages.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Item } from "../session/catalog.ts";
import { checkAgainst } from "../validation/validator.ts";
import { CALL } from "./declarations.ts";
import { fitsGuard, guardContent, guardOptions } from "./guard.ts";
import { type Invoked, invoke } from "./invoke.ts";
import { ParamReader } from "./params.ts";
import { renderResult } from "./render.ts";
import type { ToolContext } from "./tool.ts";
import { isErrorResult, toolError } from "./tool-error.ts";

/** What `mcp_call` does. @throws AdapterError */
export function mcpCall(params: Readonly<Record<string, unknown>>, context: ToolContext): Promise<AgentToolResult> {
  const read = new ParamReader("mcp_call", params, context.runtime.limits);
  const target = read.target();
  read.requireTarget(target);
  const tool = read.name("tool");
  if (tool === undefined) throw read.fail("tool", "is missing", "Name a tool of the server; mcp_list shows them.");
  const args = read.object("arguments");
  const timeoutMs = read.timeoutMs();
  const strays = straysIn(params);
  return invoke({ target, tool, args, timeoutMs }, context).then((invoked) => {
    const blocks = renderResult(invoked.result, context.runtime.limits);
    const unsent = strays === undefined ? [] : unsentOf(strays, args, invoked.item);
    if (unsent.length > 0)
      blocks.push({ type: "text", text: `[Not sent: ${unsent.map(quote).join(", ")}. ${TO_ARGUMENTS}]` });
    return answer(tool, invoked, blocks, context);
  });
}

/** An unknown parameter, and the keys of the object in it. */
type Stray = readonly [name: string, within: readonly string[]];

function straysIn(params: Readonly<Record<string, unknown>>): readonly Stray[] | undefined {
  const names = Object.keys(params).filter((name) => !OWN.has(name) && params[name] !== null && params[name] !== "");
  if (names.length === 0) return undefined;
  return names.slice(0, MAX_STRAYS).map((name) => {
    const value = params[name];
    return [name, isObject(value) ? Object.keys(value) : []];
  });
}

/** The unknown parameters that hold an argument of the tool: models put arguments beside `arguments`, or into an object of another name. */
function unsentOf(
  strays: readonly Stray[],
  args: Readonly<Record<string, unknown>>,
  { inputSchema }: Item,
): readonly string[] {
  const properties = isObject(inputSchema) && isObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
  const isTaken = (name: string): boolean => Object.hasOwn(properties, name) && !Object.hasOwn(args, name);
  return strays.filter(([name, within]) => isTaken(name) || within.some(isTaken)).map(([name]) => name);
}

const OWN: ReadonlySet<string> = new Set([...Object.keys(CALL.parameters["properties"] as object), HOST_CONTEXT_KEY]);
const MAX_STRAYS = 20;
const TO_ARGUMENTS = 'What the tool takes belongs in "arguments".';

/** The result without a promise in the usual case: no error, no output schema, and short enough. */
function answer(
  tool: string,
  invoked: Invoked,
  blocks: ContentBlock[],
  context: ToolContext,
): AgentToolResult | Promise<AgentToolResult> {
  const { spec, item, result } = invoked;
  const guard = guardOptions(spec, context);
  if (isErrorResult(result) || isObject(item["outputSchema"]) || !fitsGuard(blocks, guard))
    return examined(tool, invoked, blocks, context);
  return { content: blocks, details: { server: spec.name, tool, mcpResult: result } };
}

async function examined(
  tool: string,
  invoked: Invoked,
  blocks: ContentBlock[],
  context: ToolContext,
): Promise<AgentToolResult> {
  const { spec, item, result } = invoked;
  if (isErrorResult(result)) throw await toolError(tool, invoked, blocks, context);
  const details: Record<string, unknown> = { server: spec.name, tool, mcpResult: result };
  if (isObject(item["outputSchema"]))
    await checkOutput(item["outputSchema"], result, blocks, details, context.runtime.limits);
  const guard = guardOptions(spec, context);
  return { content: fitsGuard(blocks, guard) ? blocks : await guardContent(blocks, guard), details };
}

/**
 * `structuredContent` that does not fit the tool's `outputSchema` is told, and shown all the same (Tools, Output Schema). A
 * schema that cannot be used is not told to the model; `details` says why.
 */
async function checkOutput(
  outputSchema: object,
  result: unknown,
  blocks: ContentBlock[],
  details: Record<string, unknown>,
  limits: Limits,
): Promise<void> {
  // Null is what servers make of a result that has none.
  const structured = isObject(result) ? (result["structuredContent"] ?? undefined) : undefined;
  if (structured === undefined) return;
  const check = await checkAgainst(outputSchema, structured, limits);
  if (check.kind === "unchecked") details["outputSchemaProblem"] = check.reason;
  if (check.kind !== "mismatch") return;
  const where = check.path === "" ? "structuredContent" : `structuredContent${check.path}`;
  blocks.push({
    type: "text",
    text: `[Warning: the result does not fit the tool's outputSchema: ${where} ${check.reason}]`,
  });
}
