import type { AgentToolResult } from "../contract.ts";
import type { PiContent, PiResult } from "./pi-api.ts";
import { portable } from "./portable.ts";

/** The only types that model providers take, with the base64 of their first bytes. */
const IMAGES: readonly { readonly mimeType: string; readonly starts: RegExp }[] = [
  { mimeType: "image/png", starts: /^iVBORw0KGg/ },
  { mimeType: "image/jpeg", starts: /^\/9j\// },
  { mimeType: "image/gif", starts: /^R0lGOD[dl]h/ },
  { mimeType: "image/webp", starts: /^UklGR.{6}XRUJQ/ },
];
const TAKEN = /^image\/(png|jpe?g|gif|webp)\b/i;
const TYPE_CHARACTERS = 100;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A result as Pi hands it on: unchecked, to a provider that refuses this and every later request over one bad image or blank text. */
export function toPiResult({ content, details = {} }: AgentToolResult): PiResult {
  const told = content.filter((block) => block.type !== "text" || /\S/.test(block.text)).map(toPiContent);
  return { content: told.length > 0 ? told : [note("[the tool returned no text]")], details: portable(details) };
}

function toPiContent(block: AgentToolResult["content"][number]): PiContent {
  if (block.type === "text") return block;
  const mimeType = block.mimeType.slice(0, TYPE_CHARACTERS);
  const data = padded(block.data);
  if (data === undefined)
    return note(`[image left out: ${mimeType}, ${block.data.length} characters that are not base64]`);
  // By the first bytes, which providers compare with the declared type: what begins otherwise is none of the four.
  const found = IMAGES.find(({ starts }) => starts.test(data.slice(0, 32)));
  if (found === undefined) {
    const but = TAKEN.test(mimeType) ? " that are no such image" : "";
    return note(
      `[image left out: ${mimeType}, ${Buffer.byteLength(data, "base64")} bytes${but}; models take png, jpeg, gif and webp]`,
    );
  }
  return { type: "image", data, mimeType: found.mimeType };
}

/** Base64 in whole groups of four; `undefined` if it is none. */
function padded(data: string): string | undefined {
  if (!BASE64.test(data)) return undefined;
  const rest = data.length % 4;
  if (rest === 0) return data;
  return rest === 1 || data.endsWith("=") ? undefined : data + "=".repeat(4 - rest);
}

function note(text: string): PiContent {
  return { type: "text", text };
}
