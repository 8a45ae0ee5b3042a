const READY = Promise.resolve();

/**
 * Runs the work in a microtask, after the synchronous code that is running now: requests that are made together can be batched.
 * `process.nextTick` would cost several times as much.
 */
export function soon<T>(work: () => T | Promise<T>): Promise<T> {
  return READY.then(work);
}
