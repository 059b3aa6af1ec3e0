import { performance } from 'node:perf_hooks';

/** How many of `count` things a second `body` does when it does them all. */
export async function perSecond(count: number, body: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await body();
  return count / ((performance.now() - startedAt) / 1000);
}
