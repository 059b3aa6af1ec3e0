/** Yields from `source` until the signal aborts, even while the source has nothing to yield. */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  if (signal.aborted) return;
  const iterator = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<T>> | undefined;
  try {
    for (;;) {
      next = iterator.next();
      const result = await Promise.race([next, aborted]);
      if (result === undefined || result.done === true) return;
      next = undefined;
      yield result.value;
    }
  } finally {
    // Not awaited: a waiting source ends only when its next value comes.
    next?.catch(() => {});
    iterator.return?.().catch(() => {});
  }
}
