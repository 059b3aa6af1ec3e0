/**
 * Awaits a value, but rejects as soon as the signal aborts: work that ignores the signal must not
 * block its caller.
 */
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
