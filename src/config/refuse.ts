import { AdapterError } from "../errors.ts";
import type { Owner } from "./expand.ts";

/** Makes the error about one field of one entry; the field is empty for the entry itself. */
export type Refuse = (field: string, reason: string) => AdapterError;

export function refusal({ server, configPath }: Owner): Refuse {
  return (field, reason) => new AdapterError("config.entry", { server, configPath, field, reason });
}
