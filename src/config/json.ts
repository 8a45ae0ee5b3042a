import type { Node, ParseError } from "jsonc-parser";
import { AdapterError } from "../errors.ts";

const MAX_DEPTH = 100;

/**
 * Reads JSON with comments and trailing commas. Every key is an own property, `__proto__` too; of equal keys the last counts.
 * The error never quotes the file: it may be any file that a link points to.
 * @throws AdapterError `config.syntax`, `config.shape`
 */
export async function parseJson(text: string, configPath: string): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = await parseLenient(text, configPath); // Says where and why, if it fails too.
  }
  assertShallow(value, configPath);
  return value;
}

/** Reads JSON as its standard has it. @throws AdapterError `config.syntax`, `config.shape` */
export async function parseStrictJson(text: string, configPath: string): Promise<unknown> {
  const value = await parseJson(text, configPath); // Words the error, if it is none of the two below.
  try {
    JSON.parse(text);
  } catch {
    const reason = "comments and trailing commas are not allowed here";
    throw new AdapterError("config.syntax", { configPath, reason, line: 1, column: 1 });
  }
  return value;
}

/**
 * The text of a JSON file with one member set; a new one becomes the first of its object, where it parts no comment from
 * what it is about. Comments and the layout of everything else stay.
 */
export async function setMember(text: string, path: readonly string[], value: unknown): Promise<string> {
  const { applyEdits, modify } = await import("jsonc-parser");
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  return applyEdits(text, modify(text, [...path], value, { formattingOptions, getInsertionIndex: () => 0 }));
}

/** Every member of a text that was parsed before, those included that do not count since a later one has the same name. */
export async function treeOf(text: string): Promise<Node | undefined> {
  const { parseTree } = await import("jsonc-parser");
  return parseTree(text, [], { allowTrailingComma: true });
}

/** Objects nested without end would overflow the stack of whatever walks them. */
export function assertShallow(value: unknown, configPath: string, depth = 0): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_DEPTH) throw tooDeep(configPath);
  for (const item of Object.values(value)) assertShallow(item, configPath, depth + 1);
}

async function parseLenient(text: string, configPath: string): Promise<unknown> {
  const { parseTree, printParseErrorCode } = await import("jsonc-parser");
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(configPath);
    throw error;
  }
  const [first] = errors;
  if (first !== undefined || root === undefined) {
    const name = first === undefined ? "ValueExpected" : printParseErrorCode(first.error);
    const reason = text.trim() === "" ? "it is empty" : (REASONS[name] ?? name);
    throw new AdapterError("config.syntax", { configPath, reason, ...position(text, first?.offset ?? 0) });
  }
  return plainValue(root, configPath, 0);
}

/** The parser's own `parse` assigns keys, which loses `__proto__`. */
function plainValue(node: Node, configPath: string, depth: number): unknown {
  if (depth > MAX_DEPTH) throw tooDeep(configPath);
  const children = node.children ?? [];
  if (node.type === "array") return children.map((child) => plainValue(child, configPath, depth + 1));
  if (node.type !== "object") return node.value;
  return Object.fromEntries(
    children.map(({ children: [key, value] = [] }) => [
      key?.value,
      value === undefined ? undefined : plainValue(value, configPath, depth + 1),
    ]),
  );
}

/** Line and column, from 1, of an offset. */
function position(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

function tooDeep(configPath: string): AdapterError {
  return new AdapterError("config.shape", { configPath, reason: `is nested more than ${MAX_DEPTH} levels deep` });
}

const REASONS: Readonly<Record<string, string>> = {
  InvalidSymbol: "text that is not in double quotes",
  InvalidNumberFormat: "an unreadable number",
  PropertyNameExpected: "a name in double quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma is expected",
  CloseBraceExpected: "a closing brace is expected",
  CloseBracketExpected: "a closing bracket is expected",
  EndOfFileExpected: "something follows its end",
  InvalidCommentToken: "a comment in the wrong place",
  UnexpectedEndOfComment: "a comment without an end",
  UnexpectedEndOfString: "a string without its closing quote",
  UnexpectedEndOfNumber: "an unreadable number",
  InvalidUnicode: "an unreadable \\u escape (a backslash itself is written twice)",
  InvalidEscapeCharacter: "an unknown escape in a string (a backslash itself is written twice)",
  InvalidCharacter: "a control character in a string",
};
