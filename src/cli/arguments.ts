import { readFile } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { cut } from "../cut.ts";
import { reasonOf } from "../errors.ts";
import { quote } from "../messages.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { usage } from "./usage.ts";

/** Arguments as a person typed them. */
export interface Arguments {
  readonly values: Readonly<Record<string, unknown>>;
  /** `key=value` pairs whose value reads as JSON, with the text as typed: a tool may want the text. */
  readonly ambiguous: ReadonlyMap<string, string>;
}

const SHOWN_CHARACTERS = 60;
/** A pattern over many more of them would need more stack than there is. */
const CHECKED_CHARACTERS = 1_000_000;
const PAIR = /^([^=]+?)(:?=)([\s\S]*)$/;
const WHOLE_NUMBER = /^-?\d+$/;
/** Linear, in valid JSON. */
const JSON_TEXTS = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
/** Not what stands before or behind a point, or in an exponent. */
const JSON_WHOLE_NUMBERS = /(?<![\d.eE+-])-?\d+(?![\d.eE])/g;
const EXPECTED = `Write one JSON object, key=value pairs, - for stdin, or @FILE.`;

/** Reads the words behind a tool or a method. `what` names them in errors. @throws AdapterError `cli.usage` */
export async function readArguments(
  words: readonly string[],
  what: "ARGUMENTS" | "PARAMS",
  signal: AbortSignal,
): Promise<Arguments> {
  const [first = "", ...others] = words;
  const alone = first === "-" || first.startsWith("@") || first.trimStart().startsWith("{");
  if (alone && others.length > 0)
    throw usage(`${what}: nothing else can be given with ${quote(cut(first, SHOWN_CHARACTERS))}`, EXPECTED);
  if (first === "-")
    return { values: objectIn(await standardInput(signal), `${what} from stdin`), ambiguous: new Map() };
  if (first.startsWith("@")) return { values: objectIn(await text(first.slice(1)), first), ambiguous: new Map() };
  if (alone) return { values: objectIn(first, what), ambiguous: new Map() };
  return pairs(words, what);
}

async function standardInput(signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function pairs(words: readonly string[], what: string): Arguments {
  const values = new Map<string, unknown>();
  const ambiguous = new Map<string, string>();
  for (const word of words) {
    const [, key = "", sign, value = ""] = PAIR.exec(word) ?? [];
    if (sign === undefined) throw usage(`${what}: ${quote(cut(word, SHOWN_CHARACTERS))} is not key=value`, EXPECTED);
    if (values.has(key)) throw usage(`${what}: ${quote(key)} is given twice`, `For a list write ${key}='[1, 2]'.`);
    const read = asJson(value);
    if (sign === ":=" && read === undefined) {
      throw usage(`${what}: the value of ${quote(key)} is not valid JSON`, `Write ${key}=... for plain text.`);
    }
    if (sign === ":=") refuseInexact(value, `${what}: ${quote(key)}`);
    values.set(key, read === undefined || (sign === "=" && isInexact(value)) ? value : read.json);
    if (sign === "=" && read !== undefined && typeof read.json !== "string") ambiguous.set(key, value);
  }
  // From entries, so that `__proto__` is a key like any other.
  return { values: Object.fromEntries(values), ambiguous };
}

/** A whole number that a double cannot hold would silently become another one. */
function isInexact(value: string): boolean {
  return WHOLE_NUMBER.test(value) && !Number.isSafeInteger(Number(value));
}

/** @throws AdapterError `cli.usage` where valid JSON, of a length that is written by hand, holds such a number. */
function refuseInexact(json: string, where: string): void {
  if (json.length > CHECKED_CHARACTERS) return;
  const number = json.replace(JSON_TEXTS, '""').match(JSON_WHOLE_NUMBERS)?.find(isInexact);
  if (number === undefined) return;
  throw usage(
    `${where} holds ${cut(number, SHOWN_CHARACTERS)}, which is too large to be exact`,
    "Write it as a string, in quotes, or with an exponent if it need not be exact.",
  );
}

function asJson(value: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(value) };
  } catch {
    return undefined; // Plain text.
  }
}

function objectIn(json: string, where: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw usage(`${where}: not valid JSON: ${reasonOf(error)}`, EXPECTED);
  }
  if (!isObject(value)) throw usage(`${where}: must be a JSON object`, EXPECTED);
  refuseInexact(json, where);
  return { ...value };
}

async function text(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usage(`Cannot read ${path}: ${reasonOf(error)}`);
  }
}
