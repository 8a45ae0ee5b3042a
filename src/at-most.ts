import { clearTimeout, setTimeout } from "node:timers";

/**
 * A promise with a timeout: resolves with the value of `work`, or with `late` once `milliseconds` have passed. A rejection in time is
 * passed on, a later one is ignored. The timer is always cleared.
 */
export async function atMost<T, L>(work: Promise<T>, milliseconds: number, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<L>((resolve) => {
    timer = setTimeout(() => resolve(late), milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
