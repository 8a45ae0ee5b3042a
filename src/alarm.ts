import { clearImmediate, clearTimeout, setImmediate, setTimeout } from "node:timers";

/**
 * A timeout that lets pending I/O go first: after a host was suspended (Ctrl-Z, sleep) or busy, Node runs overdue timers before it
 * reads the sockets, and an answer that had arrived in time would count as late. Returns a function that cancels it. `keepsAlive`:
 * whether the timer keeps the process from exiting.
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
