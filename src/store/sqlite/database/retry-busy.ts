import { setImmediate, setTimeout } from 'node:timers/promises';
import { isBusy } from './sqlite-errors.ts';

/** How long to wait for another writer. Waiting is asynchronous, so it does not block the event loop. */
export interface BusyPolicy {
  /** Total time to wait between attempts, in milliseconds. */
  readonly busyMs: number;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Waits for `ms` milliseconds, or for one turn of the event loop if 0. Keeps the process alive, because a write
 * waits.
 */
export async function sleep(ms: number): Promise<void> {
  await (ms === 0 ? setImmediate() : setTimeout(ms));
}

const MAX_BACKOFF_MS = 25;

/** The pause in milliseconds before retry number `attempt`, from 1: none at first, then growing, with jitter. */
export function busyBackoffMs(attempt: number): number {
  if (attempt <= 3) return 0;
  return Math.ceil(Math.min(MAX_BACKOFF_MS, 2 ** (attempt - 3)) * (0.5 + Math.random() / 2));
}

/**
 * Runs a synchronous action and retries it while the database is busy.
 * @throws the action's error, or the last busy error
 */
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
