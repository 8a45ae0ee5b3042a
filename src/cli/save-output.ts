import { access, constants, stat, writeFile } from "node:fs/promises";
import { dirname, extname, resolve, sep } from "node:path";
import { reasonOf } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Terminal } from "./terminal.ts";
import { usage } from "./usage.ts";

interface Binary {
  readonly data: string;
  readonly mimeType: string;
}

/**
 * Refuses an `--output` that could not be written, before anything is called for it.
 * @throws AdapterError `cli.usage`
 */
export async function checkOutput(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const there = await stat(path).catch(() => undefined); // It need not exist.
  if (there?.isDirectory() === true || path.endsWith("/") || path.endsWith(sep))
    throw usage(`--output: ${path} is a folder`, "Name a file. Nothing was called.");
  try {
    await access(there === undefined ? dirname(resolve(path)) : path, constants.W_OK);
  } catch (error) {
    throw usage(`--output: cannot write ${path}: ${reasonOf(error)}`, "Nothing was called.");
  }
}

/**
 * Saves the images, audio and files of an MCP result: the first under the given name, others with a number before its
 * extension. Returns whether there were any and all of them are saved; `done` says what has happened even if saving fails.
 */
export async function saveOutput(
  result: unknown,
  path: string,
  { done, terminal }: { readonly done: string; readonly terminal: Terminal },
): Promise<boolean> {
  const found = binariesOf(result);
  for (const [index, { data, mimeType }] of found.entries()) {
    const to = index === 0 ? path : numbered(path, index + 1);
    const bytes = Buffer.from(data, "base64");
    try {
      await writeFile(to, bytes);
    } catch (error) {
      terminal.note(`${done}, but ${to} cannot be written: ${reasonOf(error)}. Calling again would run it again.`);
      return false;
    }
    terminal.note(`Saved ${mimeType}, ${bytes.length} bytes, to ${to}`);
  }
  if (found.length === 0) terminal.note("The result holds no image, audio or file; nothing was saved.");
  return found.length > 0;
}

/** Of the content of a tool result, the contents of a resource, and the messages of a prompt. */
function binariesOf(result: unknown): readonly Binary[] {
  if (!isObject(result)) return [];
  const { content, contents, messages } = result;
  const blocks: unknown[] = [
    ...(Array.isArray(content) ? content : []),
    ...(Array.isArray(messages)
      ? messages.flatMap((message: unknown) => (isObject(message) ? message["content"] : []))
      : []),
  ];
  return [
    ...blocks.map((block) => (isObject(block) && isObject(block["resource"]) ? block["resource"] : block)),
    ...(Array.isArray(contents) ? contents : []),
  ]
    .filter(isObject)
    .flatMap(({ type, data, blob, mimeType }) => {
      const bytes = type === "image" || type === "audio" ? data : blob;
      return typeof bytes === "string"
        ? [{ data: bytes, mimeType: typeof mimeType === "string" ? mimeType : "unknown type" }]
        : [];
    });
}

function numbered(path: string, number: number): string {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}
