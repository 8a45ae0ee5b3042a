import { AdapterError } from "../errors.ts";
import type { Owner } from "./expand.ts";
import { maskedArguments } from "./written-secrets.ts";

/** Makes the error about one field of one entry; the field is empty for the entry itself. */
export type Refuse = (field: string, reason: string) => AdapterError;

export function refusal({ server, configPath }: Owner): Refuse {
  // Whoever writes "Authorization: Bearer x" where a name belongs has written a secret there.
  return (field, reason) =>
    new AdapterError("config.entry", { server, configPath, field: maskedArguments([field]).join(), reason });
}
