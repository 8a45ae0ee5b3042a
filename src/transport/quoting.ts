import { quoteText } from "../remote-text.ts";
import type { Beginning } from "./response.ts";

/** Bytes of a body that are looked at for a quotation. */
const LOOKED_AT_BYTES = 16 * 1024;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  apos: "'",
  nbsp: " ",
};

/** The start of a body as one line for an error, as `quoteText` does it; HTML is reduced to what a person would read. */
export function quoteBody({ bytes, whole }: Beginning, characters: number): string {
  const text = bytes.toString("utf8", 0, LOOKED_AT_BYTES);
  const isPage = /^\s*<(?:!doctype html|html|head|body)\b/i.test(text.slice(0, 200));
  return quoteText(isPage ? htmlText(text) : text, characters, !whole || bytes.length > LOOKED_AT_BYTES);
}

/** In linear time: whatever a gateway sends may be hostile. */
function htmlText(html: string): string {
  const lower = html.toLowerCase();
  let text = "";
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open < 0) break;
    text += `${html.slice(at, open)} `;
    const hidden = HIDDEN.find((name) => lower.startsWith(name, open + 1));
    const end = hidden === undefined ? html.indexOf(">", open) : lower.indexOf(`</${hidden}`, open);
    if (end < 0) return decodeEntities(text);
    at = hidden === undefined ? end + 1 : end;
    // The closing tag of what is hidden is passed over as an ordinary tag.
  }
  return decodeEntities(text + html.slice(at));
}

const HIDDEN = ["script", "style"];

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? " ");
}
