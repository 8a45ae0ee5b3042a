import { builtin } from "../builtin.ts";
import type { ContentBlock } from "../contract.ts";
import { cut } from "../cut.ts";
import type { Limits } from "../limits.ts";
import { isObject } from "../protocol/jsonrpc.ts";

const UNKNOWN_CHARACTERS = 2000;
/** Beyond this, blocks are no longer something to read one by one. */
const MAX_BLOCKS = 1000;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * What a model sees of an MCP tool result: texts and images as they are, everything else in words, in the server's order.
 * Nothing a server sends can make this fail (Tools, Tool Result).
 */
export function renderResult(result: unknown, limits: Limits): ContentBlock[] {
  if (!isObject(result)) return [text(`The tool answered with ${JSON.stringify(result)} instead of a result.`)];
  const { content, structuredContent } = result;
  const blocks = Array.isArray(content) ? content.slice(0, MAX_BLOCKS).map((block) => renderBlock(block, limits)) : [];
  if (Array.isArray(content) && content.length > MAX_BLOCKS)
    blocks.push(text(`[${content.length - MAX_BLOCKS} more blocks left out]`));
  // Null is what servers in Go make of a list without items.
  if (content !== undefined && content !== null && !Array.isArray(content)) blocks.push(bare(content, limits));
  // Beside other content null means that there is none.
  if (structuredContent !== undefined && (structuredContent !== null || blocks.length === 0)) {
    const json = JSON.stringify(structuredContent);
    if (!holds(blocks, structuredContent, json)) blocks.push(text(JSON.stringify(structuredContent, withoutBase64)));
  }
  return blocks.length > 0 ? blocks : withoutContent(result, limits);
}

/** All text of rendered blocks, for an error message. */
export function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");
}

/** Many servers give what their tool returned as the result itself, or as its `toolResult`, which a draft of 2024 had. */
function withoutContent(
  { content: _, isError, _meta, resultType, toolResult, ...returned }: Readonly<Record<string, unknown>>,
  limits: Limits,
): ContentBlock[] {
  if (isObject(toolResult) && Array.isArray(toolResult["content"])) return renderResult(toolResult, limits);
  if (toolResult !== undefined && toolResult !== null) return [bare(toolResult, limits)];
  if (Object.keys(returned).length > 0) return [text(JSON.stringify(returned))];
  return [text(isError === true ? "[the tool reported an error without any text]" : "[the tool returned no content]")];
}

/** Content that is no list: a single block, or the bare value that a tool returned. */
function bare(value: unknown, limits: Limits): ContentBlock {
  if (isObject(value) && typeof value["type"] === "string") return renderBlock(value, limits);
  return text(typeof value === "string" ? value : JSON.stringify(value));
}

function renderBlock(block: unknown, limits: Limits): ContentBlock {
  if (!isObject(block)) return text(`[block: ${short(block)}]`);
  switch (block["type"]) {
    case "text":
      if (block["text"] === undefined) return text(`[text block: ${short(block)}]`);
      return text(typeof block["text"] === "string" ? block["text"] : JSON.stringify(block["text"]));
    case "image":
      return image(block, limits);
    case "audio":
      return text(`[audio: ${mime(block)}, ${size(block["data"])}]`);
    case "resource":
      return resource(block["resource"] ?? block);
    case "resource_link":
      return text(`[resource link: ${labelled(block)}]`);
    default:
      return text(`[${typeof block["type"] === "string" ? block["type"] : "untyped"} block: ${short(block)}]`);
  }
}

function image(block: Readonly<Record<string, unknown>>, limits: Limits): ContentBlock {
  const { mimeType } = block;
  const data = typeof block["data"] === "string" ? plainBase64(block["data"]) : undefined;
  if (typeof data !== "string" || data === "" || typeof mimeType !== "string" || !mimeType.startsWith("image/"))
    return text(`[image without usable data: ${mime(block)}, ${size(data)}]`);
  if (data.length > limits.imageBytes)
    return text(`[image left out: ${mimeType}, ${size(data)}; the limit is ${limits.imageBytes} bytes of base64]`);
  if (data.length % 4 === 1 || !BASE64.test(data))
    return text(`[image left out: ${mimeType}, ${String(block["data"]).length} characters that are not base64]`);
  return { type: "image", data, mimeType };
}

/** Without the beginning of a data URL and the line ends that some servers leave in it. */
function plainBase64(data: string): string {
  const plain = data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data;
  return /\s/.test(plain) ? plain.replace(/\s+/g, "") : plain;
}

function resource(value: unknown): ContentBlock {
  if (!isObject(value)) return text(`[resource: ${short(value)}]`);
  if (typeof value["text"] === "string") return text(value["text"]);
  const { uri, blob } = value;
  const facts = `${typeof uri === "string" ? uri : "no URI"}, ${mime(value)}`;
  return text(blob === undefined ? `[resource: ${facts}]` : `[binary resource: ${facts}, ${size(blob)}]`);
}

function labelled(link: Readonly<Record<string, unknown>>): string {
  const { name, title, uri, mimeType, description } = link;
  const parts = [name, title === name ? "" : title, uri, mimeType, description];
  return parts.filter((part) => typeof part === "string" && part !== "").join(", ");
}

function mime(block: Readonly<Record<string, unknown>>): string {
  return typeof block["mimeType"] === "string" ? block["mimeType"] : "unknown type";
}

/** The size of base64 data, decoded. */
function size(data: unknown): string {
  return typeof data === "string" ? `${Buffer.byteLength(data, "base64")} bytes` : "no data";
}

/** Whether a text block already holds this very value, whose JSON is given: as all of the text, or within it. */
function holds(blocks: readonly ContentBlock[], value: unknown, json: string): boolean {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.some((text) => looksLikeJson(text) && says(text, value, json.length))) return true;
  // Many servers put a heading before it. A lone number or word may stand anywhere by chance.
  const longer = typeof value === "object" ? texts.filter((text) => text.length > json.length) : [];
  if (longer.length === 0) return false;
  const indented = JSON.stringify(value, null, 2);
  return longer.some((text) => text.includes(json) || text.includes(indented));
}

/** Only what is as long in JSON, whatever the order of its keys, is compared: a comparison takes the time of the larger value. */
function says(candidate: string, value: unknown, characters: number): boolean {
  try {
    const parsed: unknown = JSON.parse(candidate);
    return JSON.stringify(parsed).length === characters && isSame(parsed, value);
  } catch {
    return false; // Ordinary text, or nested without end: no JSON to compare.
  }
}

/** Not imported: that takes the first call a millisecond, and hardly any needs it. */
function isSame(one: unknown, other: unknown): boolean {
  return builtin("node:util").isDeepStrictEqual(one, other);
}

function looksLikeJson(candidate: string): boolean {
  const first = candidate.trimStart()[0];
  return first !== undefined && '{["-0123456789tfn'.includes(first);
}

/** Half a character, as of a text that its server has cut, makes providers refuse the request, and every later one. */
function text(value: string): ContentBlock {
  return { type: "text", text: value.toWellFormed() };
}

function short(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > UNKNOWN_CHARACTERS ? `${cut(json, UNKNOWN_CHARACTERS)} (${json.length} characters)` : json;
}

/**
 * For `JSON.stringify`: the base64 of images, audio and resources says nothing to a model, so that its size stands in its place.
 * The whole is in `details`.
 */
export function withoutBase64(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const { blob, uri, data, type } = value;
  if (typeof blob === "string" && typeof uri === "string") return { ...value, blob: sizeOf(blob) };
  return typeof data === "string" && (type === "image" || type === "audio") ? { ...value, data: sizeOf(data) } : value;
}

function sizeOf(base64: string): string {
  return `[${base64.length} characters of base64]`;
}
