import type { SessionKey } from '../../core/index.ts';
import { advanceEnd, checkConsumed, checkNumbering, isStale } from '../rules/step-rules.ts';
import type { SettledStep } from '../store.ts';
import type { MemorySession } from './memory-session.ts';

type SessionEnd = Pick<
  MemorySession,
  'uid' | 'owner' | 'epoch' | 'head' | 'lastRecord' | 'lastSeq' | 'lastInput'
>;

/** Checks the numbers of all steps of a commit before any is applied. Stale steps are skipped. */
export function checkNumberings(
  steps: readonly SettledStep[],
  find: (key: SessionKey) => MemorySession | undefined,
): void {
  // A batch may have several steps of one session. Each continues the previous one.
  const ends = new Map<MemorySession, SessionEnd>();
  for (const step of steps) {
    const session = find(step.key);
    if (session === undefined) continue;
    const end = ends.get(session) ?? session;
    if (isStale(step, end)) continue;
    checkNumbering(step, end);
    checkConsumed(step, end.lastInput);
    const { uid, owner, epoch } = session;
    const lastInput = end.lastInput + (step.accepts?.length ?? 0);
    const next = { ...advanceEnd(step, end), lastInput };
    ends.set(session, { uid, owner, epoch, head: step.step, ...next });
  }
}
