/**
 * Calls a host's callback, from which nothing is wanted. Hosts write such callbacks as async functions too: what theirs rejects
 * with, unheard it would end the process, is told like what another throws.
 */
export function callBack(callback: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const given = callback();
    if (typeof given === "object" && given !== null) Promise.resolve(given).catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
