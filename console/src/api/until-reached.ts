import { ConnectionError } from '../../../src/client/index.ts';
import { delay } from '../../../src/client/delay.ts';
import type { Delay } from '../../../src/client/delay.ts';

const WAIT_MS = 1000;

/**
 * Reads from the server, again and again while it cannot be reached: what a page shows stays until the server is back.
 * @throws the error of a read that the server refused, and the reason of the signal when it aborts
 */
export async function untilReached<T>(
  read: () => Promise<T>,
  aborted: AbortSignal,
  wait: Delay = delay,
): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      await wait(WAIT_MS, aborted);
      aborted.throwIfAborted();
    }
  }
}
