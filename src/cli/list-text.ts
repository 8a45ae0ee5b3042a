import { isObject } from "../protocol/jsonrpc.ts";
import { quoteText, readable } from "../remote-text.ts";
import type { Item } from "../session/catalog.ts";
import { signature } from "../tools/signature.ts";
import { firstSentence } from "../tools/text.ts";
import type { Options } from "./options.ts";
import type { Terminal } from "./terminal.ts";

const SUMMARY_CHARACTERS = 200;
const NAME_CHARACTERS = 300;
const INSTRUCTION_LINES = 5;

/** The details of an `mcp_list` of one server, or of a search, as text for a person. */
export function listText(
  details: Readonly<Record<string, unknown>>,
  { tool, kind = "tools" }: Options,
  terminal: Terminal,
): string {
  const { matches, more, failed, server, serverInfo, protocolVersion, instructions } = details;
  const items = (Array.isArray(matches) ? matches : Array.isArray(details[kind]) ? details[kind] : []).filter(isObject);
  if (tool !== undefined && items[0] !== undefined) return inFull(items[0], terminal);
  const lines = items.map((item) => entry(item, terminal));
  if (protocolVersion !== undefined) {
    const { name = "unknown", version = "" } = isObject(serverInfo) ? serverInfo : {};
    const count = `${items.length} ${items.length === 1 ? kindName(kind).slice(0, -1) : kindName(kind)}`;
    const identity = quoteText(`${String(name)} ${String(version)}`.trim(), NAME_CHARACTERS);
    lines.unshift(
      `${terminal.style("bold", String(server))} (${identity}), protocol ${quoteText(String(protocolVersion), 40)}, ${count}`,
    );
    if (kind === "tools" && typeof instructions === "string")
      lines.splice(1, 0, terminal.style("dim", indented(readable(instructions))), "");
  } else if (items.length === 0) {
    lines.push("Nothing matches these words.");
  }
  if (typeof more === "number" && more > 0) lines.push(`... and ${more} more; use other words to narrow it.`);
  for (const each of [...notes(failed), ...notes(details["leftOut"])]) lines.push(terminal.style("yellow", each));
  return lines.join("\n");
}

/** One item: how it is called, and a sentence about it. */
function entry(item: Item, terminal: Terminal): string {
  const { server, summary, description, title, uri, uriTemplate, mimeType } = item;
  const name = quoteText(String(uri ?? uriTemplate ?? item["name"]), NAME_CHARACTERS);
  const where = server === undefined ? "" : `${quoteText(String(server), NAME_CHARACTERS)} `;
  const parameters = typeof item["parameters"] === "string" ? item["parameters"] : signature(item);
  const isCalled = uri === undefined && uriTemplate === undefined;
  const call = isCalled ? `(${quoteText(parameters, 1000)})` : "";
  const label = isCalled ? [] : [item["name"], mimeType].filter((part) => typeof part === "string" && part !== "");
  const about = quoteText(
    String(summary ?? firstSentence(description ?? title, SUMMARY_CHARACTERS)),
    SUMMARY_CHARACTERS,
  );
  const first = `  ${where}${terminal.style("bold", name)}${call}${label.length === 0 ? "" : `  ${quoteText(label.join(", "), NAME_CHARACTERS)}`}`;
  return about === "" ? first : `${first}\n      ${about}`;
}

function inFull(item: Item, terminal: Terminal): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = item;
  const lines = [
    `${terminal.style("bold", quoteText(String(name), NAME_CHARACTERS))}(${quoteText(signature(item), 1000)})`,
  ];
  if (typeof title === "string" && title !== "") lines.push(quoteText(title, NAME_CHARACTERS));
  if (typeof description === "string" && description !== "") lines.push("", readable(description));
  for (const [label, value] of Object.entries({ parameters: inputSchema, result: outputSchema, annotations })) {
    if (value !== undefined) lines.push("", `${label}:`, readable(JSON.stringify(value, null, 2)));
  }
  return lines.join("\n");
}

/** Servers that could not be searched, and items that cannot be used. */
function notes(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map(({ server, name, error, reason }) => {
    const who =
      server === undefined ? `left out: ${String(name ?? "an item without a name")}` : `failed: ${String(server)}`;
    return quoteText(`${who}: ${String(error ?? reason)}`, 500);
  });
}

function kindName(kind: string): string {
  return kind.replace("_", " ");
}

/** The first lines: a person came for the list below them. */
function indented(text: string): string {
  const lines = text.trim().split("\n");
  const shown = lines.length > INSTRUCTION_LINES ? [...lines.slice(0, INSTRUCTION_LINES), "..."] : lines;
  return shown.map((line) => `  ${line}`).join("\n");
}
