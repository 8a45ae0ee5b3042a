import type { ElicitResult } from "../contract.ts";
import { INVALID_PARAMS, isObject } from "../protocol/jsonrpc.ts";
import { checkAgainst } from "../validation/validator.ts";
import type { InputAnswer } from "./input.ts";

type Ask = (params: Record<string, unknown>) => Promise<ElicitResult | undefined>;

const DECLINED: InputAnswer = { result: { action: "decline" } };

/**
 * One `elicitation/create`, in form or URL mode (Client, Elicitation). Defaults of the form are filled in where the host's
 * content leaves them out; content that does not fit the requested schema is declined rather than sent.
 */
export async function elicitation(params: Readonly<Record<string, unknown>>, ask: Ask): Promise<InputAnswer> {
  const mode = params["mode"] ?? "form";
  if (mode !== "form" && mode !== "url") return invalid(`unknown elicitation mode ${JSON.stringify(mode)}`);
  if (mode === "url") return urlMode(params, ask);
  const schema = params["requestedSchema"];
  if (!isObject(schema) || !isObject(schema["properties"])) return invalid("requestedSchema is not an object schema with properties");
  const answer = await ask({ ...params });
  if (!isObject(answer)) return DECLINED;
  if (answer.action !== "accept") return { result: { action: answer.action === "cancel" ? "cancel" : "decline" } };
  const content = withDefaults(schema["properties"], isObject(answer.content) ? answer.content : {});
  const check = await checkAgainst(schema, content);
  return check.kind === "mismatch" ? DECLINED : { result: { action: "accept", content } };
}

async function urlMode(params: Readonly<Record<string, unknown>>, ask: Ask): Promise<InputAnswer> {
  if (typeof params["url"] !== "string" || !URL.canParse(params["url"])) return invalid("url is not a URL");
  const answer = await ask({ ...params });
  const action = isObject(answer) ? answer["action"] : undefined;
  return { result: { action: action === "accept" || action === "cancel" ? action : "decline" } };
}

function withDefaults(properties: Readonly<Record<string, unknown>>, content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const filled: [string, unknown][] = Object.entries(content);
  for (const [name, property] of Object.entries(properties)) {
    if (!Object.hasOwn(content, name) && isObject(property) && property["default"] !== undefined) filled.push([name, property["default"]]);
  }
  return Object.fromEntries(filled);
}

function invalid(message: string): InputAnswer {
  return { error: { code: INVALID_PARAMS, message } };
}
