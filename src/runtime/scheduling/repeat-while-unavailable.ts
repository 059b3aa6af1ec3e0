import { setTimeout } from 'node:timers/promises';
import { StoreUnavailableError } from '../../store/internal.ts';

/** How a repetition ends and waits. */
export interface RepeatOptions {
  /** False: the last error is thrown instead of another attempt. */
  readonly isOpen: () => boolean;
  /** Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
}

const MIN_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 2000;

/**
 * Repeats the work while the store is unavailable: after 20 ms, then doubling up to 2 s. A call of a model or an agent
 * that reads the store must not fail because the database restarts. The work must be idempotent.
 * @throws every other error of the work
 */
export async function repeatWhileUnavailable<T>(
  work: () => Promise<T>,
  { isOpen, sleep = async (ms) => setTimeout(ms) }: RepeatOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || !isOpen()) throw error;
    }
    await sleep(backoffMs(attempt));
  }
}

/** The pause after a failed attempt on an unavailable store. `attempt` starts at 1. */
export function backoffMs(attempt: number): number {
  return Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (attempt - 1));
}
