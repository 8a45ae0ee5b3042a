/** `Promise.try` with one argument, without a closure: an error that is thrown synchronously becomes a rejection. */
export function promised<A, T>(work: (argument: A) => Promise<T>, argument: A): Promise<T> {
  try {
    return work(argument);
  } catch (error) {
    return Promise.reject(error);
  }
}
