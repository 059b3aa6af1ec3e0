import type { SessionKey } from '../../core/index.ts';
import { fromSessionColumns, type CommonSessionColumns } from '../rules/session-row-columns.ts';
import type { InputSeq, SessionInit, SessionRow, StoredPendingCall } from '../store.ts';

/** A row of the table `sessions`. */
export interface FullRow extends CommonSessionColumns {
  readonly id: number;
  readonly app: string;
  readonly user_id: string;
  readonly name: string;
  readonly last_record: number;
  readonly last_input: InputSeq;
  readonly inbox_up_to: InputSeq;
  readonly pending: string | null;
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
  return fromSessionColumns(row, {
    key: toSessionKey(row),
    pending: parsePendingCalls(row),
    inboxPending: row.last_input > row.inbox_up_to,
  });
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
