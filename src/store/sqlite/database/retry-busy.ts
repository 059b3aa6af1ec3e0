import { setImmediate, setTimeout } from 'node:timers/promises';
import { isBusy } from './sqlite-errors.ts';

/** How to wait for another writer: asynchronously, so that the event loop goes on. */
export interface BusyPolicy {
  /** How long to go on trying, in milliseconds of waiting. */
  readonly busyMs: number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Waits out one turn of the event loop for 0, else so many milliseconds. It keeps the process alive: a write waits. */
export async function sleep(ms: number): Promise<void> {
  await (ms === 0 ? setImmediate() : setTimeout(ms));
}

const MAX_BACKOFF_MS = 25;

/** The pause before attempt number `attempt` (the first repetition is 1): none at first, then jittered and growing. */
export function busyBackoffMs(attempt: number): number {
  if (attempt <= 3) return 0;
  return Math.ceil(Math.min(MAX_BACKOFF_MS, 2 ** (attempt - 3)) * (0.5 + Math.random() / 2));
}

/** Does something synchronous as soon as no other connection is in the way. @throws what it throws, busy at last. */
export async function retryBusy<T>(policy: BusyPolicy, action: () => T): Promise<T> {
  let waitedMs = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= policy.busyMs) throw error;
    }
    const pause = busyBackoffMs(attempt);
    await policy.sleep(pause);
    waitedMs += pause;
  }
}
