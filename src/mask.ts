/** Stands where a secret was. */
export const MASK = "[redacted]";
