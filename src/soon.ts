const READY = Promise.resolve();

/**
 * Does the work once everything that is ready to run now has run, so that what is asked for together is done together.
 * A microtask: `process.nextTick` costs several times as much.
 */
export function soon<T>(work: () => T | Promise<T>): Promise<T> {
  return READY.then(work);
}
