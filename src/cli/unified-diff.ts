import { createTwoFilesPatch } from "diff";

/** The lines of a unified diff of one file; none where nothing changes. */
export function unifiedDiff(path: string, before: string, after: string): string[] {
  if (before === after) return [];
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, { context: 3 });
  return patch
    .split("\n")
    .filter((line, index, { length }) => !/^(=+|Index: .*)$/.test(line) && (line !== "" || index < length - 1));
}
