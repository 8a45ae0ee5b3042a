interface Sorted {
  readonly names: ReadonlySet<string>;
  readonly starred: readonly string[];
}

/** A long list is asked about each of thousands of tools. */
const sorted = new WeakMap<readonly string[], Sorted>();

/** Whether one of the patterns is the name, or fits it with `*` for any characters. The list must not change afterwards. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  let known = sorted.get(patterns);
  if (known === undefined) {
    known = { names: new Set(patterns), starred: patterns.filter((pattern) => pattern.includes("*")) };
    sorted.set(patterns, known);
  }
  return known.names.has(name) || known.starred.some((pattern) => matches(pattern, name));
}

/** Linear in the name for any number of stars: each literal part is searched once, from left to right. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  const last = parts[parts.length - 1] ?? "";
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
