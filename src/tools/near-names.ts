import { lazyRegExp } from "../lazy-regexp.ts";

/** Fewer characters stand in many names by chance. */
const MIN_CONTAINED = 3;

/** Names that contain what was asked, or that it contains, and those within a small edit distance; best first. */
export function nearNames(asked: string, names: Iterable<string>, most: number): string[] {
  const wanted = fold(asked);
  const farthest = Math.max(2, wanted.length / 3);
  const scored: { name: string; score: number }[] = [];
  for (const name of names) {
    const score = remoteness(wanted, fold(name), farthest);
    if (score <= farthest) scored.push({ name, score });
  }
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, most)
    .map(({ name }) => name);
}

/** From 0 for the same to 1 where one contains the other; else their distance. */
function remoteness(wanted: string, folded: string, farthest: number): number {
  const [shorter, longer] = folded.length < wanted.length ? [folded, wanted] : [wanted, folded];
  if (shorter.length >= MIN_CONTAINED && longer.includes(shorter)) return 1 - shorter.length / longer.length;
  return longer.length - shorter.length > farthest ? Number.POSITIVE_INFINITY : distance(wanted, folded, farthest);
}

function fold(name: string): string {
  return name.slice(0, 64).toLowerCase().replace(mark(), "");
}

const mark = lazyRegExp("[^\\p{L}\\p{N}]", "gu");

/** Levenshtein distance, row by row. What is farther than `most` is only told to be that. */
function distance(a: string, b: string, most: number): number {
  const row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const unit = a.charCodeAt(i - 1);
    let diagonal = i - 1;
    let left = i;
    let least = i;
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] ?? 0;
      left = Math.min(above + 1, left + 1, diagonal + (unit === b.charCodeAt(j - 1) ? 0 : 1));
      row[j] = left;
      diagonal = above;
      if (left < least) least = left;
    }
    // No row's least is smaller than that of the row above it.
    if (least > most) return least;
  }
  return row[b.length] ?? 0;
}
