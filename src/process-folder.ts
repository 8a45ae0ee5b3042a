import { AdapterError } from "./errors.ts";

/** The working directory of this process. @throws AdapterError where it was removed: Node tells that as a bare ENOENT. */
export function processFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new AdapterError("cwd.gone", {});
  }
}
