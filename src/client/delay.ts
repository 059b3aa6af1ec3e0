/** Waits for `ms` milliseconds, or until the signal aborts. It never rejects. */
export type Delay = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Waits with `setTimeout`, which every browser and every server runtime has. */
export const delay: Delay = async (ms, signal) =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
  });

/**
 * Backoff before retry number `attempt` (the first retry is 1), in milliseconds. It is random, so that clients do not
 * retry at the same moment.
 */
export function backoffMs(attempt: number): number {
  const most = Math.min(5000, 100 * 2 ** Math.min(attempt - 1, 10));
  return most / 2 + (Math.random() * most) / 2;
}
