import { systemClock } from '../../net/index.ts';
import type { DispatchTarget } from '../../runtime/index.ts';
import type { DriveRequest } from './drive-request.ts';
import type { RestateIngress } from './restate-ingress.ts';

/** The pause before a session that was left alone is tried again: it doubles, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** About 30 seconds. Then the session waits until a runtime finds it in the store. */
const MAX_ATTEMPTS = 12;

/**
 * Drives a session to rest, and asks for the next drive. Nothing is written to Restate's journal: a drive that is
 * repeated after a crash finds in the store what is left.
 * @throws the error of the store, and RestateUnavailableError: Restate repeats the drive
 */
export async function driveOnce(
  { key, id, attempt }: DriveRequest,
  target: Pick<DispatchTarget, 'drive'>,
  ingress: Pick<RestateIngress, 'send'>,
): Promise<void> {
  const result = await target.drive(key);
  if (result.state === 'left') {
    if (attempt + 1 >= MAX_ATTEMPTS) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
    await ingress.send({ key, id, attempt: attempt + 1 }, pauseMs);
  } else if (result.next !== undefined) {
    const { next } = result;
    // The clock of this process may be behind that of the one that asked for this drive: then the timer of this request
    // is not due yet. Restate ignores a request that equals the one that it runs.
    const again = next.id === id ? attempt + 1 : 0;
    await ingress.send({ key, id: next.id, attempt: again }, (next.at ?? 0) - systemClock.now());
  }
}
