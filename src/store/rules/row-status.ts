import { isSessionStatus } from '../../core/internal.ts';
import { STATUS_TABLE } from '../../core/index.ts';
import type { SessionActivity, SessionStatus } from '../../core/index.ts';
import type { SessionCounts, StoredStatus } from '../store.ts';
import { MAX_HYDRATION_FAILURES } from './quarantine.ts';

/** All statuses of a row. */
export const STORED_STATUSES: readonly StoredStatus[] = [
  ...Object.keys(STATUS_TABLE).filter(isSessionStatus),
  'quarantined',
];

/** The number of sessions with a status. */
export interface StatusCount {
  readonly status: StoredStatus;
  readonly count: number;
}

/** Converts the counts of a query by status. */
export function toSessionCounts(rows: readonly StatusCount[]): SessionCounts {
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** The columns from which the status of a session follows. */
export interface StatusColumns {
  readonly failures: number;
  readonly lastSeq: number;
  readonly activity: SessionActivity;
  /** Null: no step has set it, or an earlier release wrote the row. */
  readonly status: string | null;
}

/** Reads the status of a session from its columns. `rowStatusSql` computes the same in a query. */
export function toRowStatus({ failures, ...columns }: StatusColumns): StoredStatus {
  return failures >= MAX_HYDRATION_FAILURES ? 'quarantined' : toSessionStatus(columns);
}

/** Reads the status that a session would have if it were not quarantined. */
export function toSessionStatus({
  lastSeq,
  activity,
  status,
}: Omit<StatusColumns, 'failures'>): SessionStatus {
  if (isSessionStatus(status)) return status;
  return activity === 'idle' && lastSeq === 0 ? 'queued' : activity;
}

/**
 * The status of the row `s` of a table `sessions`. Its column `status` holds the activity, and `phase` the status, as
 * the first release named them.
 */
export const ROW_STATUS_SQL: string = `CASE
  WHEN s.failures >= ${MAX_HYDRATION_FAILURES} THEN 'quarantined'
  WHEN s.phase IS NOT NULL THEN s.phase
  WHEN s.status = 'idle' AND s.last_seq = 0 THEN 'queued'
  ELSE s.status END`;

/** The condition that the row `s` has an activity, which a placeholder of the query gives. */
export function hasActivitySql(placeholder: string): string {
  return `s.failures < ${MAX_HYDRATION_FAILURES} AND s.status = ${placeholder}`;
}
