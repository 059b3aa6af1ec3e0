/** Time as a service. Epoch milliseconds. */
export interface Clock {
  readonly now: () => number;
  /** Calls back once, at or soon after `at`; returns how to cancel. */
  readonly at: (at: number, callback: () => void) => () => void;
}

/** Where a machine's clock reads the time. */
export interface TimeSources {
  /** The time of day, epoch milliseconds. It may jump either way when somebody sets the clock. */
  readonly wall: () => number;
  /** Milliseconds since some moment. It never goes back. */
  readonly monotonic: () => number;
}

/**
 * The longest that one timer of the platform waits. Longer waits are made of several, so that a wait ends soon after its
 * time when the time of day jumped forward or the machine slept.
 */
const MAX_TIMEOUT_MS = 60_000;

/** A time of day that is behind by more than this was set back. */
const SET_BACK_MS = 100;

/**
 * A clock that follows the time of day forward and never goes back. When the time of day is set back, it goes on from
 * where it was: a wait of five seconds takes five seconds. Its timers do not keep the process alive.
 */
export function createSystemClock({ wall, monotonic }: TimeSources): Clock {
  let ahead = wall() - monotonic();
  let latest = -Infinity;
  const now = (): number => {
    const time = wall();
    const passed = monotonic();
    ahead = Math.max(ahead, time - passed);
    const steady = passed + ahead;
    // The two sources differ by fractions of a millisecond all the time; the time of day is what people compare with.
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

/** A clock that is some milliseconds ahead of another. */
export function clockAhead(clock: Clock, byMs: () => number): Clock {
  return {
    now: () => clock.now() + byMs(),
    at: (at, callback) => clock.at(at - byMs(), callback),
  };
}
