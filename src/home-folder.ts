import { isAbsolute, parse } from "node:path";
import { builtin } from "./builtin.ts";

/** `node:os` is loaded on first use: most calls do not need it, and a static import costs the first one a millisecond. */
const SOURCES: readonly (() => string)[] = [
  () => builtin("node:os").homedir(),
  () => builtin("node:os").userInfo().homedir,
];

/**
 * The user's home folder, always absolute: where HOME is empty or relative, files of the working directory, which may be a
 * cloned repository, would be taken for the user's own. The root where the system knows none, as for a user without a name.
 */
export function homeFolder(sources: readonly (() => string)[] = SOURCES): string {
  for (const source of sources) {
    try {
      const found = source();
      if (isAbsolute(found)) return found;
    } catch {
      // Neither a variable names it nor an entry of the system's users.
    }
  }
  return parse(process.execPath).root;
}
