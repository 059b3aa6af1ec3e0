/** Time as a service. Epoch milliseconds. */
export interface Clock {
  readonly now: () => number;
  /** Calls back once, at or soon after `at`; returns how to cancel. */
  readonly at: (at: number, callback: () => void) => () => void;
}

/** The longest delay a timer of the platform takes; longer waits are made of several. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at: (at, callback) => {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const delay = at - Date.now();
      timer =
        delay > MAX_TIMEOUT_MS
          ? setTimeout(arm, MAX_TIMEOUT_MS)
          : setTimeout(callback, Math.max(0, delay));
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};
