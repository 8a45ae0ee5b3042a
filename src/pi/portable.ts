import { isObject } from "../protocol/jsonrpc.ts";

/** Levels that every reader manages; JSON.stringify and structuredClone fail somewhere far beyond. */
const MAX_DEPTH = 500;

/**
 * Details that survive `structuredClone`, `JSON.stringify` and readers in other languages, which reject lone surrogates: a host that
 * cannot store them ends the run. Plain data, which everything from a server is, is returned as it is; anything else is replaced by the
 * nearest plain value.
 */
export function portable(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const plain = copy(details, 0);
  return isObject(plain) ? plain : {};
}

/** The value itself where it is plain all through. */
function copy(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return value.toWellFormed();
    case "number":
    case "boolean":
    case "undefined":
      return value;
    case "bigint":
      return String(value);
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth >= MAX_DEPTH) return "[left out: nested too deeply]";
  if (Array.isArray(value)) return copyArray(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return { name: value.name, message: value.message };
  return copyObject(value, depth);
}

function copyArray(array: readonly unknown[], depth: number): readonly unknown[] {
  let plain: unknown[] | undefined;
  for (let at = 0; at < array.length; at++) {
    const item = copy(array[at], depth + 1);
    if (item !== array[at]) plain ??= [...array];
    if (plain !== undefined) plain[at] = item;
  }
  return plain ?? array;
}

function copyObject(object: object, depth: number): object {
  const prototype: unknown = Object.getPrototypeOf(object);
  let changed = (prototype !== Object.prototype && prototype !== null) || Object.hasOwn(object, "toJSON");
  const entries = Object.entries(object).map(([key, value]): [string, unknown] => {
    const item = copy(value, depth + 1);
    const name = key.toWellFormed();
    if (item !== value || name !== key) changed = true;
    return [name, item];
  });
  return changed
    ? Object.fromEntries(entries.filter(([key, value]) => value !== undefined && key !== "toJSON"))
    : object;
}
