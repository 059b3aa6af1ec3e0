/** Waits so long, or until the signal aborts; it never rejects. Milliseconds. */
export type Delay = (ms: number, signal?: AbortSignal) => Promise<void>;

/** With the timers of the platform: every browser and every server has these. */
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

/** How long to wait before try number `attempt` (1: the first repetition); no two clients come back at once. */
export function backoffMs(attempt: number): number {
  const most = Math.min(5000, 100 * 2 ** Math.min(attempt - 1, 10));
  return most / 2 + (Math.random() * most) / 2;
}
