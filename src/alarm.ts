/**
 * Does the work after so long, and only once what came in time was read: where the host was stopped (Ctrl-Z, sleep) or busy,
 * timers run before that. The returned function calls it off. `keepsAlive`: Node does not end meanwhile.
 */
export function alarm(milliseconds: number, work: () => void, keepsAlive = true): () => void {
  let reading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    reading = setImmediate(work);
  }, milliseconds);
  if (!keepsAlive) timer.unref();
  return () => {
    clearTimeout(timer);
    clearImmediate(reading);
  };
}
