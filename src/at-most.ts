/**
 * Waits for the work, but at most so long: gives what it gives, or `late` if that takes longer. A failure in time is thrown, a
 * later one is nobody's. No timer is left behind.
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
