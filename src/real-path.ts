import { realpathSync } from "node:fs";
import { resolve } from "node:path";

/**
 * A path without links, absolute. One on a drive that Windows maps to a share keeps its drive: batch files, such as npx, do
 * not start in a share's own path. @throws the system's error.
 */
export function realPath(path: string, system: (path: string) => string = realpathSync.native): string {
  const real = found(path, system);
  return isShare(real) && !isShare(path) ? resolve(path) : real;
}

/** As `realPath`; the path itself where that fails. */
export function realPathOrItself(path: string): string {
  try {
    return realPath(path);
  } catch {
    return path;
  }
}

function found(path: string, system: (path: string) => string): string {
  try {
    return system(path);
  } catch (error) {
    // Windows cannot resolve paths on drives that its mount manager does not know (RAM disks, encrypted folders); Node's own walk can.
    if ((error as NodeJS.ErrnoException).code === "EISDIR") return realpathSync(path);
    throw error;
  }
}

function isShare(path: string): boolean {
  return /^[\\/]{2}/.test(path);
}
