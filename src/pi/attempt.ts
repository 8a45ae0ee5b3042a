/** Reads from a host's object, with a default if that throws: contexts of an ended session throw at every access. */
export function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
