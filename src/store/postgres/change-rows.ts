import { InvalidInputError } from '../../core/index.ts';
import { checkChangeLimit } from '../rules/change-cursor.ts';
import type { SessionChangePage, SessionChangeQuery, SessionRowChange } from '../store.ts';
import type { Queries } from './queries.ts';
import { toSessionKey, toSessionRow, type FullRow } from '../server/session-row.ts';
import { FULL_ROW } from './session-rows.ts';

/** A changed session with the columns of its row. Of a deleted session, only its name, uid and id. */
interface ChangeRow extends FullRow {
  readonly changed: string;
  readonly is_new: boolean;
  readonly deleted: boolean;
}

/**
 * Reads a page of session changes. A row has the id of the transaction that changed it. Transactions do not commit in the
 * order of their ids, so only those below the oldest one that still runs are read: then no earlier change can appear.
 * A cursor is the last transaction and session that were read.
 */
export async function readChanges(
  queries: Queries,
  schema: string,
  { appName, after, limit }: SessionChangeQuery,
): Promise<SessionChangePage> {
  checkChangeLimit(limit);
  if (after === undefined) {
    const { horizon } = await readHorizon(queries);
    return { changes: [], cursor: `${horizon}.0`, isLast: true };
  }
  const [xid = '', session = '', more] = after.split('.');
  if (!/^\d{1,19}$/.test(xid) || !/^\d{1,15}$/.test(session) || more !== undefined)
    throw invalidCursor(after);
  // In this order: a transaction that ends in between is then above the horizon, and is in the next page.
  const { horizon, next } = await readHorizon(queries);
  if (BigInt(xid) > BigInt(next)) throw invalidCursor(after);
  const rows = await queries.rows<ChangeRow>(
    `SELECT ${FULL_ROW}, s.changed::text AS changed, coalesce((s.created, s.id) > ($2::text::xid8, $3::bigint), false) AS is_new,
       false AS deleted
     FROM (
       SELECT * FROM ${schema}.sessions
       WHERE app = $1 AND changed IS NOT NULL AND (changed, id) > ($2::text::xid8, $3::bigint)
         AND changed < $4::text::xid8
       ORDER BY changed, id LIMIT $5) AS s`,
    [appName, xid, session, horizon, limit],
  );
  const buried = await queries.rows<ChangeRow>(
    `SELECT session AS id, app, user_id, name, uid, changed::text AS changed, true AS deleted
     FROM ${schema}.tombstones
     WHERE app = $1 AND changed IS NOT NULL AND (changed, session) > ($2::text::xid8, $3::bigint)
       AND changed < $4::text::xid8
     ORDER BY changed, session LIMIT $5`,
    [appName, xid, session, horizon, limit],
  );
  const page = [...rows, ...buried].toSorted(byChange).slice(0, limit);
  const last = page.at(-1);
  const isLast = last === undefined || page.length < limit;
  return {
    changes: page.map(toChange),
    // Everything below the horizon was read. No session has the id 0, so the horizon itself is still to be read.
    cursor: isLast
      ? `${findLater(horizon, xid)}.${BigInt(horizon) > BigInt(xid) ? 0 : session}`
      : `${last.changed}.${last.id}`,
    isLast,
  };
}

function toChange(row: ChangeRow): SessionRowChange {
  const key = toSessionKey(row);
  const cursor = `${row.changed}.${row.id}`;
  if (row.deleted) return { type: 'deleted', key, uid: row.uid, cursor };
  return { type: row.is_new ? 'created' : 'changed', key, row: toSessionRow(row), cursor };
}

function byChange(one: ChangeRow, other: ChangeRow): number {
  const order = BigInt(one.changed) - BigInt(other.changed);
  return order === 0n ? one.id - other.id : order < 0n ? -1 : 1;
}

function findLater(one: string, other: string): string {
  return BigInt(one) > BigInt(other) ? one : other;
}

/** `horizon`: all transactions below it have ended. `next`: no transaction has this id yet. */
async function readHorizon(
  queries: Queries,
): Promise<{ readonly horizon: string; readonly next: string }> {
  const [row] = await queries.rows<{ horizon: string; next: string }>(
    `SELECT pg_snapshot_xmin(current)::text AS horizon, pg_snapshot_xmax(current)::text AS next
     FROM (SELECT pg_current_snapshot() AS current) AS one`,
  );
  if (row === undefined) throw new Error('PostgreSQL returned no snapshot');
  return row;
}

function invalidCursor(after: string): InvalidInputError {
  return new InvalidInputError('after', `"${after}" is not a position of this store.`);
}
