import { setTimeout } from 'node:timers/promises';

/** Waits without keeping the process alive. */
export async function unrefDelay(ms: number): Promise<void> {
  await setTimeout(ms, undefined, { ref: false });
}
