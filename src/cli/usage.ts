import { defined } from "../defined.ts";
import { AdapterError } from "../errors.ts";

/** What is wrong with a command line, as an error that ends with status 2. */
export function usage(reason: string, hint?: string): AdapterError {
  return new AdapterError("cli.usage", { reason, ...defined({ hint }) });
}
