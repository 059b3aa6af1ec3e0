import type { SessionActivity } from '../../core/index.ts';
import type { OwnerId, SessionRow } from '../store.ts';
import { toRowStatus } from './row-status.ts';

/** The columns of the table `sessions` that every database has. */
export interface CommonSessionColumns {
  readonly uid: string;
  readonly agent: string;
  readonly owner: OwnerId | null;
  readonly epoch: number;
  readonly head: number;
  readonly last_seq: number;
  /** The activity. */
  readonly status: SessionActivity;
  /** The status. Null: no step has set it, or an earlier release wrote the row. */
  readonly phase: string | null;
  readonly in_flight: number;
  readonly next_due_at: number | null;
  readonly failures: number;
  readonly net_hash: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Converts the columns of a session, and what each database stores in its own way, to a row of the store interface. */
export function fromSessionColumns(
  row: CommonSessionColumns,
  own: Pick<SessionRow, 'key' | 'pending' | 'inboxPending'>,
): SessionRow {
  return {
    ...own,
    uid: row.uid,
    agent: row.agent,
    owner: row.owner,
    epoch: row.epoch,
    head: row.head,
    lastSeq: row.last_seq,
    status: toRowStatus({
      failures: row.failures,
      lastSeq: row.last_seq,
      activity: row.status,
      status: row.phase,
    }),
    activity: row.status,
    inFlight: row.in_flight,
    nextDueAt: row.next_due_at,
    netHash: row.net_hash,
    failures: row.failures,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
