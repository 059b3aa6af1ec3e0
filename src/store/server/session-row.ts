import type { SessionActivity, SessionKey } from '../../core/index.ts';
import { toRowStatus } from '../rules/row-status.ts';
import type { InputSeq, OwnerId, SessionInit, SessionRow, StoredPendingCall } from '../store.ts';

/** A row of the table `sessions`. */
export interface FullRow {
  readonly id: number;
  readonly app: string;
  readonly user_id: string;
  readonly name: string;
  readonly uid: string;
  readonly agent: string;
  readonly owner: OwnerId | null;
  readonly epoch: number;
  readonly head: number;
  readonly last_seq: number;
  readonly last_record: number;
  readonly last_input: InputSeq;
  readonly inbox_up_to: InputSeq;
  /** The activity. */
  readonly status: SessionActivity;
  /** The status. Null: no step has set it, or an earlier release wrote the row. */
  readonly phase: string | null;
  readonly in_flight: number;
  readonly next_due_at: number | null;
  readonly failures: number;
  readonly net_hash: string;
  readonly pending: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns of a `FullRow`. */
export const SESSION_COLUMNS: readonly (keyof FullRow)[] = [
  'id',
  'app',
  'user_id',
  'name',
  'uid',
  'agent',
  'owner',
  'epoch',
  'head',
  'last_seq',
  'last_record',
  'last_input',
  'inbox_up_to',
  'status',
  'phase',
  'in_flight',
  'next_due_at',
  'failures',
  'net_hash',
  'pending',
  'created_at',
  'updated_at',
];

/** The initial values of a session, with its uid. */
export interface NewSession extends SessionInit {
  readonly uid: string;
}

/** The parameters that identify a session. */
export function toKeyParameters({ appName, userId, sessionId }: SessionKey): readonly string[] {
  return [appName, userId, sessionId];
}

export function toSessionKey({
  app,
  user_id: userId,
  name,
}: Pick<FullRow, 'app' | 'user_id' | 'name'>): SessionKey {
  return { appName: app, userId, sessionId: name };
}

/** Converts a row of the table to a row of the store interface. */
export function toSessionRow(row: FullRow): SessionRow {
  return {
    key: toSessionKey(row),
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
    pending: parsePendingCalls(row),
    netHash: row.net_hash,
    inboxPending: row.last_input > row.inbox_up_to,
    failures: row.failures,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Reads the pending calls of a row. Calls of an older version of the schema have no time. */
export function parsePendingCalls(
  row: Pick<FullRow, 'pending' | 'updated_at'>,
): readonly StoredPendingCall[] {
  if (row.pending === null) return [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a commit
  const calls = JSON.parse(row.pending) as readonly (Omit<StoredPendingCall, 'since'> & {
    readonly since?: number;
  })[];
  return calls.map((call) => ({ ...call, since: call.since ?? row.updated_at }));
}
