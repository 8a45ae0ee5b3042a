import { randomUUID } from "node:crypto";
import { open, rename, unlink } from "node:fs/promises";
import { insisting } from "./momentary.ts";

/** How the name of a file ends while it is written; before that stand the name of the file it becomes, and a dot. */
export const DRAFT = ".tmp";

/**
 * Writes a file beside and renames it into place, so that a reader never meets half a file; nobody else can read it meanwhile.
 * @throws the system's error; the file is then as it was
 */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(text);
      if (mode !== 0o600) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await insisting(() => rename(draft, path));
  } catch (error) {
    await unlink(draft).catch(() => undefined); // It may not exist.
    throw error;
  }
}
