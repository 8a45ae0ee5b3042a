import { isAbsolute, resolve } from "node:path";
import { AdapterError } from "./errors.ts";

/** The working directory of this process. @throws AdapterError where it was removed: Node tells that as a bare ENOENT. */
export function processFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new AdapterError("cwd.gone", {});
  }
}

/** A path as it is meant in this process, absolute. @throws AdapterError as `processFolder` does, where it is relative. */
export function fromProcessFolder(path: string): string {
  return isAbsolute(path) ? resolve(path) : resolve(processFolder(), path);
}
