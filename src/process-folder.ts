import { isAbsolute, resolve } from "node:path";
import { AdapterError, reasonOf } from "./errors.ts";

/** The working directory of this process. @throws AdapterError where there is none: Node tells a removed one as a bare ENOENT. */
export function processFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    const removed = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new AdapterError("cwd.gone", removed ? {} : { reason: reasonOf(error) });
  }
}

/** The absolute form of a path that is relative to the working directory of this process. @throws AdapterError as `processFolder` does, where it is relative. */
export function fromProcessFolder(path: string): string {
  return isAbsolute(path) ? resolve(path) : resolve(processFolder(), path);
}
