import type { AgentToolResult, ContentBlock } from "../contract.ts";
import { LIMITS } from "../limits.ts";
import { isObject } from "../protocol/jsonrpc.ts";
import { readable } from "../remote-text.ts";
import { renderResult } from "../tools/render.ts";

/**
 * The blocks of a call's result without the cut that is made for a model: the file that keeps the rest would be gone
 * when this program ends.
 */
export function wholeBlocks({ content, details }: AgentToolResult): ContentBlock[] {
  if (details?.["mcpResult"] === undefined) return content;
  const whole = renderResult(details["mcpResult"], LIMITS);
  // What stands behind the server's own blocks are the adapter's warnings.
  return [...whole, ...content.slice(whole.length)];
}

/**
 * What a person reads of a call's result. `{"content": TEXT}` and `{"result": TEXT}`, as the reference server for files and
 * FastMCP give beside a text, are not shown: a file that is read into another would have them at its end.
 */
export function resultText(result: AgentToolResult): string {
  const blocks = wholeBlocks(result);
  const { content, structuredContent } = isObject(result.details?.["mcpResult"]) ? result.details["mcpResult"] : {};
  const values = isObject(structuredContent) ? Object.values(structuredContent) : [];
  const at = Array.isArray(content) ? content.length : -1;
  const own = blocks[at];
  const onlyNames =
    values.length === 1 &&
    own?.type === "text" &&
    own.text === JSON.stringify(structuredContent) &&
    blocks.slice(0, at).some((block) => block.type === "text" && block.text === values[0]);
  return blocksText(onlyNames ? blocks.toSpliced(at, 1) : blocks);
}

/** Blocks as text for a person; an image is described. */
function blocksText(blocks: readonly ContentBlock[]): string {
  return blocks.map((block) => (block.type === "text" ? readable(block.text) : imageNote(block))).join("\n");
}

function imageNote({ data, mimeType }: Extract<ContentBlock, { type: "image" }>): string {
  return `[image: ${readable(mimeType)}, ${Buffer.byteLength(data, "base64")} bytes]`;
}

/** The result of a request as text: resources and prompts in their own words, everything else as JSON. */
export function responseText(result: unknown): string {
  if (isObject(result) && Array.isArray(result["contents"])) return result["contents"].map(resourceText).join("\n");
  if (isObject(result) && Array.isArray(result["messages"])) {
    const { description } = result;
    const head = typeof description === "string" && description !== "" ? `${readable(description)}\n\n` : "";
    return head + result["messages"].map(messageText).join("\n\n");
  }
  return readable(JSON.stringify(result, null, 2) ?? "null");
}

function resourceText(item: unknown): string {
  if (!isObject(item)) return readable(JSON.stringify(item) ?? "null");
  if (typeof item["text"] === "string") return readable(item["text"]);
  return blocksText(renderResult({ content: [{ type: "resource", resource: item }] }, LIMITS));
}

function messageText(message: unknown): string {
  if (!isObject(message)) return readable(JSON.stringify(message) ?? "null");
  const { role, content } = message;
  const blocks = renderResult({ content: Array.isArray(content) ? content : [content] }, LIMITS);
  return `${readable(String(role))}: ${blocksText(blocks)}`;
}
