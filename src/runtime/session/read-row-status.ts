import { isSessionStatus } from '../../core/internal.ts';
import type { SessionStatus } from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';

/** Reads the session's status from its row. */
export function readRowStatus({
  status,
  phase,
  lastSeq,
}: SessionRow): SessionStatus | 'quarantined' {
  if (status === 'quarantined') return status;
  // A row that an earlier release wrote has no phase.
  if (!isSessionStatus(phase)) return lastSeq === 0 ? 'queued' : status;
  return phase;
}
