import { InvalidInputError } from '../../core/index.ts';
import { checkChangeLimit } from '../rules/change-cursor.ts';
import { toSessionKey, toSessionRow, type FullRow } from '../server/session-row.ts';
import type { SessionChangePage, SessionChangeQuery, SessionRowChange } from '../store.ts';
import type { TableNames } from './schema.ts';
import { FULL_ROW } from './session-rows.ts';
import type { Reads } from './statement.ts';

/** A changed session with the columns of its row. Of a deleted session, only its name, uid and id. */
interface ChangeRow extends FullRow {
  readonly changed: number;
  readonly created: number;
  readonly deleted: number;
}

/**
 * Reads a page of session changes. A row has the number of the commit that changed it. Commits are numbered in the order
 * in which they become visible, so no earlier change can appear. A cursor is the last commit and session that were read.
 */
export async function readChanges(
  queries: Reads,
  t: TableNames,
  { appName, after, limit }: SessionChangeQuery,
): Promise<SessionChangePage> {
  checkChangeLimit(limit);
  const [counter] = await queries.rows<{ n: number }>(`SELECT n FROM ${t('counter')}`);
  const horizon = counter?.n ?? 0;
  if (after === undefined) return { changes: [], cursor: toCursor(horizon + 1, 0), isLast: true };
  const [, number = '', session = ''] = /^(\d{1,15})\.(\d{1,15})$/.exec(after) ?? [];
  const [from, id] = [Number(number), Number(session)];
  if (number === '' || from > horizon + 1) throw invalidCursor(after);
  const changedBehind = (column: 'id' | 'session'): string =>
    `app = ? AND changed >= ? AND changed <= ? AND (changed > ? OR ${column} > ?) ORDER BY changed, ${column} LIMIT ?`;
  const values = [appName, from, horizon, from, id, limit];
  const [rows = [], buried = []] = await queries.several([
    [
      `SELECT ${FULL_ROW}, s.changed, s.created, 0 AS deleted FROM ${t('sessions')} AS s WHERE ${changedBehind('id')}`,
      values,
    ],
    [
      `SELECT session AS id, app, user_id, name, uid, changed, 1 AS deleted FROM ${t('tombstones')}
       WHERE ${changedBehind('session')}`,
      values,
    ],
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns above
  const page = ([...rows, ...buried] as ChangeRow[]).toSorted(byChange).slice(0, limit);
  const last = page.at(-1);
  const isLast = last === undefined || page.length < limit;
  return {
    changes: page.map((row) => toChange(row, from, id)),
    // Everything up to the horizon was read. No session has the id 0.
    cursor: isLast
      ? toCursor(Math.max(from, horizon + 1), horizon < from ? id : 0)
      : toCursor(last.changed, last.id),
    isLast,
  };
}

function toChange(row: ChangeRow, from: number, id: number): SessionRowChange {
  const key = toSessionKey(row);
  const cursor = toCursor(row.changed, row.id);
  if (row.deleted === 1) return { type: 'deleted', key, uid: row.uid, cursor };
  const isNew = row.created > from || (row.created === from && row.id > id);
  return { type: isNew ? 'created' : 'changed', key, row: toSessionRow(row), cursor };
}

function byChange(one: ChangeRow, other: ChangeRow): number {
  return one.changed - other.changed || one.id - other.id;
}

function toCursor(changed: number, session: number): string {
  return `${changed}.${session}`;
}

function invalidCursor(after: string): InvalidInputError {
  return new InvalidInputError('after', `"${after}" is not a position of this store.`);
}
