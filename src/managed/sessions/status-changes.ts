import type { LogEventType } from '../../core/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { SessionRow } from '../../store/index.ts';
import { archiveIn, completeIn, pauseIn, resumeIn } from '../../agents/index.ts';
import { isManagedStatus, STATUS_TABLE } from '../interface/session-status.ts';
import type { ManagedStatus } from '../interface/session-status.ts';

/** A status change: the input that requests it, and the event that confirms it. */
export interface StatusChange {
  readonly action: string;
  readonly place: TokenPlace<null>;
  readonly from: readonly ManagedStatus[];
  readonly doneEvent: LogEventType;
}

/** The status changes that a client can request. */
export const STATUS_CHANGES: Readonly<
  Record<'pause' | 'resume' | 'archive' | 'complete', StatusChange>
> = {
  pause: {
    action: 'a pause',
    place: pauseIn,
    from: listStatusesBefore('paused'),
    doneEvent: 'session.paused',
  },
  resume: {
    action: 'a resume',
    place: resumeIn,
    from: ['paused', 'failed'],
    doneEvent: 'session.resumed',
  },
  archive: {
    action: 'archiving',
    place: archiveIn,
    from: listStatusesBefore('archived'),
    doneEvent: 'session.archived',
  },
  complete: {
    action: 'completing',
    place: completeIn,
    from: ['idle'],
    doneEvent: 'session.completed',
  },
};

/** The managed status of a session row. */
export function toManagedStatus({ status, phase }: SessionRow): ManagedStatus {
  if (status === 'quarantined') return 'failed';
  // A waiting session is idle for the clients that can answer it.
  if (phase === 'waiting') return 'idle';
  return isManagedStatus(phase) ? phase : 'queued';
}

function listStatusesBefore(status: ManagedStatus): readonly ManagedStatus[] {
  const all: readonly (readonly [string, readonly ManagedStatus[]])[] =
    Object.entries(STATUS_TABLE);
  return all.flatMap(([from, to]) => (to.includes(status) && isManagedStatus(from) ? [from] : []));
}
