import { closeSync, openSync, readSync } from "node:fs";

const READ_BYTES = 256;

/** The first line of a file without its line feed, cut where it is long. @throws the system's error. */
export function firstLine(path: string): string {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(READ_BYTES);
    return buffer.toString("utf8", 0, readSync(file, buffer)).split("\n", 1)[0] ?? "";
  } finally {
    closeSync(file);
  }
}
