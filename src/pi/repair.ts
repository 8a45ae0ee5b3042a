import { isObject } from "../protocol/jsonrpc.ts";

/** Parameters of the three tools that hold an object. */
const OBJECTS = ["arguments", "params"];

/**
 * What models get wrong, put right before the host checks the types: an object written as a JSON string, and nothing written
 * as an empty string or null. Whatever cannot be read stays as it is, for the check to refuse. Idempotent.
 */
export function repairArguments(args: unknown): unknown {
  const given = typeof args === "string" ? (parsedObject(args) ?? args) : args;
  if (!isObject(given)) return given;
  let repaired = given;
  for (const [name, value] of Object.entries(given)) {
    const isNothing = value === null || value === "";
    if (OBJECTS.includes(name)) {
      const object = isNothing ? {} : typeof value === "string" ? parsedObject(value) : undefined;
      if (object !== undefined) repaired = { ...repaired, [name]: object };
    } else if (isNothing) {
      const { [name]: _, ...others } = repaired;
      repaired = others;
    }
  }
  return repaired;
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // A tool with no arguments gets "null" from some models.
    return value === null ? {} : isObject(value) ? value : undefined;
  } catch {
    return undefined; // Not JSON: what it should have been is for the check to say.
  }
}
