/** How long to retry a statement or a transaction. */
export interface RetryPolicy {
  /** How long to wait for locks of other clients, in milliseconds. */
  readonly busyMs: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** How a database reports what can be retried. */
export interface RetryRules {
  /** True when another client held a lock for longer than the lock timeout. */
  readonly isLockTimeout: (error: unknown) => boolean;
  /** True when the connection broke, or the server aborted a transaction because of a conflict with another one. */
  readonly isRepeatable: (error: unknown) => boolean;
  /** Converts an error of the database to a store error. Returns any other error unchanged. */
  readonly toStoreError: (error: unknown) => unknown;
}

const MAX_ATTEMPTS = 5;
const MAX_BACKOFF_MS = 100;

/**
 * Retries a statement or transaction after a lock timeout, for `busyMs`, and up to 4 times after a serialization
 * failure or a lost connection. An attempt must not hold a connection when it rejects.
 * @param waitsForLocks false: a lock timeout fails at once. Default: true.
 * @throws the last error, as a store error
 */
export async function retryStatement<T>(
  attempt: () => Promise<T>,
  { busyMs, sleep, now }: RetryPolicy,
  { isLockTimeout, isRepeatable, toStoreError }: RetryRules,
  waitsForLocks: boolean = true,
): Promise<T> {
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
      } else if (tries++ === MAX_ATTEMPTS || !isRepeatable(error)) throw toStoreError(error);
    }
  }
}
