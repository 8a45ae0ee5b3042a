/**
 * Calls a host's callback, from which nothing is wanted. Hosts write such callbacks as async functions too: a rejection, which
 * would end the process if nobody heard it, is told like what is thrown.
 */
export function callBack(callback: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const given = callback();
    if (typeof given === "object" && given !== null) Promise.resolve(given).catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
