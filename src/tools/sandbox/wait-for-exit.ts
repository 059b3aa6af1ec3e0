import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = 2;
/** The longest wait. A process that waits for a broken disk, for example, cannot be killed. */
const MAX_WAIT_MS = 5_000;

/**
 * Resolves when the sandbox that bubblewrap reported is empty. bubblewrap itself ends earlier: it
 * exits with the command while the first process of the sandbox still ends the others. That process
 * ends last.
 */
export async function waitForExit(report: string): Promise<void> {
  const pid = /"child-pid"\s*:\s*(?<pid>\d+)/.exec(report)?.groups?.['pid'];
  if (pid === undefined) return;
  for (let waited = 0; waited < MAX_WAIT_MS && (await isAlive(pid)); waited += POLL_INTERVAL_MS) {
    await delay(POLL_INTERVAL_MS);
  }
}

/** True for the first process of a namespace, and false for a later process with the same pid. */
async function isAlive(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return /^NSpid:(?:\t\d+)+\t1$/m.test(status) && !/^State:\t[ZX]/m.test(status);
}
