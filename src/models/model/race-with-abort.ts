/** Waits for something, but no longer than until the signal aborts: who ignores the signal must not hold the caller. */
export async function raceWithAbort<T>(awaited: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([awaited, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
