const GAP = "  ";
const LEAST = 8;

export interface Column {
  readonly title: string;
  /** Gives way first where the line is too long. */
  readonly shrinks?: boolean;
}

/** Rows in columns, for a fixed-width font; cut to `width` characters a line if one is given. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width?: number): string[] {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => length(line[at] ?? ""))));
  if (width !== undefined) shrink(columns, widths, width);
  return lines.map((line) =>
    line
      .map((cell, at) => pad(shortened(cell, widths[at] ?? 0), widths[at] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function shrink(columns: readonly Column[], widths: number[], width: number): void {
  let over = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1) - width;
  for (const [at, { shrinks }] of columns.entries()) {
    if (shrinks !== true || over <= 0) continue;
    const given = Math.min(over, Math.max(0, (widths[at] ?? 0) - LEAST));
    widths[at] = (widths[at] ?? 0) - given;
    over -= given;
  }
}

function shortened(cell: string, width: number): string {
  const characters = [...cell];
  return characters.length <= width ? cell : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - length(cell)));
}

function length(cell: string): number {
  return [...cell].length;
}
