import { randomUUID } from "node:crypto";
import { open, rename, unlink } from "node:fs/promises";
import { insisting } from "./momentary.ts";

/** The suffix of the temporary file that becomes `<name>`: it is called `<name>.<uuid>.tmp`. */
export const DRAFT = ".tmp";

/**
 * Replaces a file atomically: writes a private temporary file beside it, syncs it, and renames it into place.
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
