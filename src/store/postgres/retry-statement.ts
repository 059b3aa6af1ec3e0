import {
  isConnectionLost,
  isLockTimeout,
  isSerializationFailure,
  toStoreError,
} from './postgres-errors.ts';

/** How long to retry a statement or a transaction. */
export interface RetryPolicy {
  /** How long to wait for locks of other clients, in milliseconds. */
  readonly busyMs: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

const MAX_ATTEMPTS = 5;
const MAX_BACKOFF_MS = 100;

/**
 * Retries a statement or transaction after a lock timeout, for `busyMs`, and up to 4 times after a serialization
 * failure or a lost connection. An attempt must not hold a connection when it rejects.
 * @param options.waitsForLocks false: a lock timeout fails at once. Default: true.
 * @throws the last error, as a store error
 */
export async function retryStatement<T>(
  attempt: () => Promise<T>,
  { busyMs, sleep, now }: RetryPolicy,
  options: { readonly location: string; readonly waitsForLocks?: boolean | undefined },
): Promise<T> {
  const { location, waitsForLocks = true } = options;
  const startedAt = now();
  let sleptMs = 0;
  for (let tries = 1, waits = 0; ;) {
    try {
      return await attempt();
    } catch (error) {
      const isOver = Math.max(sleptMs, now() - startedAt) >= busyMs;
      if (isLockTimeout(error) && waitsForLocks && !isOver) {
        // Sleeps without a connection, because other calls need it and do not wait for this lock.
        const pauseMs = Math.ceil(
          Math.min(MAX_BACKOFF_MS, 2 ** waits++) * (0.5 + Math.random() / 2),
        );
        sleptMs += pauseMs;
        await sleep(pauseMs);
      } else if (
        tries++ === MAX_ATTEMPTS ||
        !(isSerializationFailure(error) || isConnectionLost(error))
      )
        throw toStoreError(error, location);
    }
  }
}
