import { readable } from "../remote-text.ts";
import { attempt } from "./attempt.ts";
import type { PiComponent, PiResult, PiRow, PiTheme, PiView } from "./pi-api.ts";

/** Rows of a result that is not unfolded. Pi itself counts lines, and what servers answer is often a single one, of JSON. */
const FOLDED_ROWS = 10;
const TAB = "   ";
/** Characters that no terminal shows in two columns. Pi ends where a row is too wide, so all others count as if they took two. */
const NARROW = /^[\0-\u10ff\u1200-\u22ff\u2500-\u25fc]$/;

/** A result as Pi's terminal shows it: its first rows, and all of them once it is unfolded. */
export function renderResult(result: PiResult, view?: PiView, theme?: PiTheme, row?: PiRow): PiComponent {
  return new Rows(textOf(result), { isFolded: view?.expanded !== true, theme, row });
}

interface RowsOptions {
  readonly isFolded: boolean;
  readonly theme: PiTheme | undefined;
  readonly row: PiRow | undefined;
}

/** Keeps the rendered rows, since Pi asks for them with every frame. */
class Rows implements PiComponent {
  readonly #text: string;
  readonly #options: RowsOptions;
  #width: number | undefined;
  #rows: string[] = [];

  constructor(text: string, options: RowsOptions) {
    this.#text = text;
    this.#options = options;
  }

  render(width: number): string[] {
    if (width !== this.#width) this.#rows = this.#rendered(Math.max(1, width));
    this.#width = width;
    return this.#rows;
  }

  invalidate(): void {
    this.#width = undefined;
  }

  #rendered(width: number): string[] {
    const { isFolded, theme } = this.#options;
    const rows = rowsOf(this.#text, width);
    const shown = isFolded ? rows.slice(0, FOLDED_ROWS) : rows;
    const lines = shown.map((text) => colored(theme, "toolOutput", text));
    const left = rows.length - shown.length;
    return left === 0 ? lines : [...lines, colored(theme, "muted", rowsOf(this.#hint(left), width)[0] ?? "")];
  }

  #hint(left: number): string {
    const key = attempt(() => this.#options.row?.keyText?.("app.tools.expand"), undefined) ?? "";
    return `... (${left} more ${left === 1 ? "row" : "rows"}${key === "" ? "" : `, ${key} to expand`})`;
  }
}

/** The texts, and the images by their type: not every terminal shows them. */
function textOf({ content }: PiResult): string {
  const texts = content.map((block) => (block.type === "text" ? block.text : `[${block.mimeType}]`));
  return readable(texts.join("\n")).trimEnd().replaceAll("\t", TAB);
}

/** Broken between words where there are some. */
function rowsOf(text: string, width: number): string[] {
  return text === "" ? [] : text.split("\n").flatMap((line) => wrapped(line, width));
}

function wrapped(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = "";
  let columns = 0;
  for (const each of line) {
    const character = columnsOf(each) > width ? "?" : each;
    if (columns + columnsOf(character) > width) {
      const blank = character === " " ? row.length : row.lastIndexOf(" ");
      const end = blank > 0 && row.slice(0, blank).trim() !== "" ? blank : row.length;
      rows.push(row.slice(0, end));
      row = row.slice(end + 1);
      columns = [...row].reduce((sum, kept) => sum + columnsOf(kept), 0);
      if (character === " ") continue;
    }
    row += character;
    columns += columnsOf(character);
  }
  return [...rows, row];
}

function columnsOf(character: string): number {
  return NARROW.test(character) ? 1 : 2;
}

/** The text in a color of the theme; plain where the host has no theme or it fails. */
function colored(theme: PiTheme | undefined, color: string, text: string): string {
  return attempt(() => theme?.fg?.(color, text), undefined) ?? text;
}
