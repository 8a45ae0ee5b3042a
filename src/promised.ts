/** Calls asynchronous work. An error that it throws before it returns a promise becomes a rejection too. */
export function promised<A, T>(work: (argument: A) => Promise<T>, argument: A): Promise<T> {
  try {
    return work(argument);
  } catch (error) {
    return Promise.reject(error);
  }
}
