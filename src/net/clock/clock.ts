/** The time and timers of a runtime. All times are epoch milliseconds. */
export interface Clock {
  readonly now: () => number;
  /** Calls `callback` once, at or soon after `at`. Returns a function that cancels the timer. */
  readonly at: (at: number, callback: () => void) => () => void;
}

/** The two time sources of a system clock. */
export interface TimeSources {
  /** The time of day, epoch milliseconds. It jumps in either direction when the machine's clock is set. */
  readonly wall: () => number;
  /** Milliseconds since an arbitrary moment. It never goes back. */
  readonly monotonic: () => number;
}

/**
 * The longest delay of one platform timer. A longer wait is split into several timers, so that it ends soon after its
 * due time even if the time of day jumped forward or the machine slept.
 */
const MAX_TIMEOUT_MS = 60_000;

/** If the time of day is behind by more than this, the machine's clock was set back. */
const SET_BACK_MS = 100;

/**
 * Returns a clock that follows the time of day and never goes back. When the time of day is set back, the clock keeps
 * counting from its last value, so a wait of five seconds still takes five seconds. Its timers do not keep the process
 * alive.
 */
export function createSystemClock({ wall, monotonic }: TimeSources): Clock {
  let ahead = wall() - monotonic();
  let latest = -Infinity;
  const now = (): number => {
    const time = wall();
    const passed = monotonic();
    ahead = Math.max(ahead, time - passed);
    const steady = passed + ahead;
    // The two sources always differ by fractions of a millisecond. Prefer the time of day: users compare with it.
    latest = Math.max(latest, steady - time < SET_BACK_MS ? time : Math.floor(steady));
    return latest;
  };
  return {
    now,
    at: (at, callback) => {
      let timer: ReturnType<typeof setTimeout>;
      const arm = (): void => {
        const delay = at - now();
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
}

/** The machine's clock, for the whole process. */
export const systemClock: Clock = createSystemClock({
  wall: () => Date.now(),
  monotonic: () => performance.now(),
});

/** Returns a clock that is `byMs()` milliseconds ahead of `clock`. */
export function clockAhead(clock: Clock, byMs: () => number): Clock {
  return {
    now: () => clock.now() + byMs(),
    at: (at, callback) => clock.at(at - byMs(), callback),
  };
}
