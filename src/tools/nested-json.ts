import { isObject } from "../protocol/jsonrpc.ts";
import { typeOfParameter } from "./signature.ts";

const OBJECT = "object";
/** A list of something; of a choice of elements, in brackets. */
const LIST = /^(?:\([^()]*\)|[^|()]*)\[\]$/;

/**
 * The arguments of a tool in which a model has written an object or a list as JSON text: it becomes what it says where the
 * tool takes nothing else. What may be a text stays one.
 */
export function withoutNestedJson(
  args: Readonly<Record<string, unknown>>,
  inputSchema: unknown,
): Readonly<Record<string, unknown>> {
  let read: Record<string, unknown> | undefined;
  for (const name of Object.keys(args)) {
    const text = args[name];
    if (typeof text !== "string" || !(text.startsWith("{") || text.startsWith("["))) continue;
    const type = typeOfParameter(inputSchema, name);
    const value = type === OBJECT || LIST.test(type) ? parsed(text) : undefined;
    if (type === OBJECT ? !isObject(value) : !Array.isArray(value)) continue;
    read ??= { ...args };
    read[name] = value;
  }
  return read ?? args;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The server says what it thinks of it.
  }
}
