/**
 * Calls a host's callback whose result is not used. Hosts also write such callbacks as async functions: a rejection that nobody
 * handles would end the process, so `onFailure` gets it, as it gets what is thrown.
 */
export function callBack(callback: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const given = callback();
    if (typeof given === "object" && given !== null) Promise.resolve(given).catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
