import type { Clock } from '../../net/index.ts';

/** How long to wait for something that closes, and where its errors go. */
export interface CloseLimit {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Receives the error of the close, also when it comes after the time limit. */
  readonly onError: (error: unknown) => void;
}

/** Calls `close` and waits until it has ended, at most for the time limit. Resolves with false when it goes on. */
export async function closeInTime(
  close: () => PromiseLike<unknown> | undefined,
  { clock, timeoutMs, onError }: CloseLimit,
): Promise<boolean> {
  let cancel = (): void => {};
  // The clock's timers do not keep the process alive, so this one must.
  const hold = setInterval(() => {}, 1000);
  const late = new Promise<boolean>((resolve) => {
    cancel = clock.at(clock.now() + timeoutMs, () => resolve(false));
  });
  const closed = (async () => {
    try {
      await close();
    } catch (error) {
      onError(error);
    }
    return true;
  })();
  return Promise.race([closed, late]).finally(() => {
    cancel();
    clearInterval(hold);
  });
}
