import { dirname, isAbsolute, relative, sep } from "node:path";
import { realPath } from "../../real-path.ts";

/** Whether a path lies in a folder or is it, the links of both followed as far as they exist. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(resolved(folder), resolved(path));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Follows the links of the part that exists; the rest cannot hold any. */
function resolved(path: string): string {
  let missing = "";
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return realPath(existing) + missing;
    } catch {
      // Not there, or not ours to look at: its folder decides.
      if (dirname(existing) === existing) return path;
      missing = path.slice(dirname(existing).length);
    }
  }
}
