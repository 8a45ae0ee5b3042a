/** What asynchronous work gives; what it throws before it has a promise is a rejection too. */
export function promised<A, T>(work: (argument: A) => Promise<T>, argument: A): Promise<T> {
  try {
    return work(argument);
  } catch (error) {
    return Promise.reject(error);
  }
}
