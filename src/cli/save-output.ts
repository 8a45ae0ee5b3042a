import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { AdapterError, reasonOf } from "../errors.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import type { Terminal } from "./terminal.ts";

interface Binary {
  readonly data: string;
  readonly mimeType: string;
}

/**
 * Saves the images, audio and files of an MCP result: the first under the given name, others with a number before its
 * extension. Returns how many there were.
 * @throws AdapterError `internal` where a file cannot be written.
 */
export async function saveOutput(result: unknown, path: string, terminal: Terminal): Promise<number> {
  const found = binariesOf(result);
  for (const [index, { data, mimeType }] of found.entries()) {
    const to = index === 0 ? path : numbered(path, index + 1);
    const bytes = Buffer.from(data, "base64");
    try {
      await writeFile(to, bytes);
    } catch (error) {
      throw new AdapterError("cli.file", { path: to, reason: reasonOf(error) }, { cause: error });
    }
    terminal.note(`Saved ${mimeType}, ${bytes.length} bytes, to ${to}`);
  }
  if (found.length === 0) terminal.note("The result holds no image, audio or file; nothing was saved.");
  return found.length;
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
