import { isChildSessionId, type SessionKey } from '../../core/index.ts';
import { CHILD_REGEX } from '../encoding/child-session-pattern.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { hasActivitySql, ROW_STATUS_SQL, type StatusCount } from '../rules/row-status.ts';
import type { ListPosition } from '../server/server-tables.ts';
import {
  SESSION_COLUMNS,
  toKeyParameters,
  toSessionKey,
  type FullRow,
  type NewSession,
} from '../server/session-row.ts';
import type { SessionCountFilter, SessionFilter, UserQuery } from '../store.ts';
import type { TableNames } from './schema.ts';
import { CHANGE_NUMBER, type Reads, type SqlValue, type Transaction } from './statement.ts';

/** The columns of a `FullRow`, from `sessions AS s`. */
export const FULL_ROW: string = SESSION_COLUMNS.map((name) => `s.${name}`).join(', ');

export async function findSession(
  queries: Reads,
  t: TableNames,
  key: SessionKey,
): Promise<FullRow | undefined> {
  const [row] = await queries.rows<FullRow>(
    `SELECT ${FULL_ROW} FROM ${t('sessions')} AS s WHERE app = ? AND user_id = ? AND name = ?`,
    toKeyParameters(key),
  );
  return row;
}

/**
 * Reads and locks the existing rows of these sessions. Never waits: a row that another client has locked fails the
 * statement, or is left out with `skip`.
 */
export async function lockSessions(
  queries: Transaction,
  t: TableNames,
  keys: readonly SessionKey[],
  ifLocked: 'fail' | 'skip',
): Promise<readonly FullRow[]> {
  // By the index in any case: a scan would lock, or fail at, the rows of other sessions.
  return queries.rows<FullRow>(
    `SELECT ${FULL_ROW} FROM ${t('sessions')} AS s FORCE INDEX (by_key) WHERE ${areKeys(keys)}
     ORDER BY s.id FOR UPDATE ${ifLocked === 'fail' ? 'NOWAIT' : 'SKIP LOCKED'}`,
    keys.flatMap(toKeyParameters),
  );
}

/** Lists those of the sessions that exist, locked or not. */
export async function listExisting(
  queries: Reads,
  t: TableNames,
  keys: readonly SessionKey[],
): Promise<readonly SessionKey[]> {
  const rows = await queries.rows<Pick<FullRow, 'app' | 'user_id' | 'name'>>(
    `SELECT s.app, s.user_id, s.name FROM ${t('sessions')} AS s WHERE ${areKeys(keys)}`,
    keys.flatMap(toKeyParameters),
  );
  return rows.map(toSessionKey);
}

export async function wasDeleted(queries: Reads, t: TableNames, key: SessionKey): Promise<boolean> {
  const buried = await queries.rows(
    `SELECT 1 FROM ${t('tombstones')} WHERE app = ? AND user_id = ? AND name = ?`,
    toKeyParameters(key),
  );
  return buried.length > 0;
}

/** Inserts a row and returns it. Undefined when the session exists already. */
export async function insertSession(
  queries: Transaction,
  t: TableNames,
  key: SessionKey,
  { uid, agent, owner, netHash, at, nextDueAt }: NewSession,
): Promise<FullRow | undefined> {
  queries.add(
    `INSERT INTO ${t('sessions')} (app, user_id, name, uid, agent, owner, epoch, head, last_seq, last_record,
       last_input, inbox_up_to, status, in_flight, failures, net_hash, created_at, updated_at, next_due_at, is_root)
     VALUES (?, ?, ?, ?, ?, ?, 1, 0, 0, 0, 0, 0, 'idle', 0, 0, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE id = id`,
    [
      ...toKeyParameters(key),
      uid,
      agent,
      owner,
      netHash,
      at,
      at,
      nextDueAt ?? null,
      !isChildSessionId(key.sessionId),
    ],
  );
  const row = await findSession(queries, t, key);
  if (row?.uid !== uid) return undefined;
  // Behind the tombstone of a session that the same transaction deletes.
  queries.addNumbered(
    `DELETE FROM ${t('tombstones')} WHERE app = ? AND user_id = ? AND name = ?`,
    toKeyParameters(key),
  );
  queries.addNumbered(
    `UPDATE ${t('sessions')} SET changed = ${CHANGE_NUMBER}, created = ${CHANGE_NUMBER} WHERE id = ?`,
    [row.id],
  );
  return row;
}

/** Makes locked sessions the newest changes. */
export function markChanged(
  queries: Transaction,
  t: TableNames,
  ids: readonly FullRow['id'][],
): void {
  queries.addNumbered(`UPDATE ${t('sessions')} SET changed = ${CHANGE_NUMBER} WHERE id IN (?)`, [
    ids,
  ]);
}

/** @param after the sort columns of the session that the list continues after */
export async function listSessions(
  queries: Reads,
  t: TableNames,
  filter: SessionFilter,
  after: Partial<ListPosition> | undefined,
): Promise<readonly FullRow[]> {
  const { appName, userId, order, direction } = filter;
  const limit =
    filter.limit === undefined ? Number.MAX_SAFE_INTEGER : parsePosition(filter.limit, 'limit');
  const columns: readonly (keyof ListPosition)[] =
    order === 'created'
      ? [
          'created_at',
          'name',
          ...(userId === undefined ? (['user_id'] as const) : []),
          ...(appName === undefined ? (['app'] as const) : []),
        ]
      : ['updated_at', 'id'];
  const [operator, keyword] = direction === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
  const conditions: readonly Condition[] = [
    ...listConditions(filter),
    ...(after === undefined ? [] : [isBehind(columns, operator, after)]),
  ];
  return queries.rows<FullRow>(
    `SELECT ${FULL_ROW} FROM ${t('sessions')} AS s WHERE ${conditions.map(([sql]) => sql).join(' AND ') || 'TRUE'}
     ORDER BY ${columns.map((name) => `s.${name} ${keyword}`).join(', ')} LIMIT ?`,
    [...conditions.flatMap(([, ...values]) => values), limit],
  );
}

/** SQL with the values of its parameters. */
type Condition = readonly [string, ...SqlValue[]];

export async function countSessions(
  queries: Reads,
  t: TableNames,
  filter: SessionCountFilter,
): Promise<readonly StatusCount[]> {
  const conditions = listConditions(filter);
  return queries.rows<StatusCount>(
    `SELECT ${ROW_STATUS_SQL} AS status, COUNT(*) AS count FROM ${t('sessions')} AS s
     WHERE ${conditions.map(([sql]) => sql).join(' AND ') || 'TRUE'} GROUP BY 1`,
    conditions.flatMap(([, ...values]) => values),
  );
}

export async function countBytes(
  queries: Reads,
  t: TableNames,
  filter: SessionCountFilter,
): Promise<number> {
  const conditions = listConditions(filter);
  const [row] = await queries.rows<{ bytes: number | string }>(
    `SELECT COALESCE(SUM(s.bytes), 0) AS bytes FROM ${t('sessions')} AS s
     WHERE ${conditions.map(([sql]) => sql).join(' AND ') || 'TRUE'}`,
    conditions.flatMap(([, ...values]) => values),
  );
  return Number(row?.bytes);
}

export async function listUsers(
  queries: Reads,
  t: TableNames,
  { appName, withDeleted = false }: UserQuery,
): Promise<readonly string[]> {
  const tables = withDeleted ? (['sessions', 'tombstones'] as const) : (['sessions'] as const);
  const users = tables.map((table) => `SELECT user_id AS name FROM ${t(table)} WHERE app = ?`);
  const rows = await queries.rows<{ name: string }>(
    `SELECT DISTINCT name FROM (${users.join(' UNION ALL ')}) AS users ORDER BY name`,
    tables.map(() => appName),
  );
  return rows.map(({ name }) => name);
}

function listConditions({
  appName,
  userId,
  agent,
  parent,
  status,
  activity,
}: SessionCountFilter): readonly Condition[] {
  return [
    ...(appName === undefined ? [] : [['s.app = ?', appName] as const]),
    ...(userId === undefined ? [] : [['s.user_id = ?', userId] as const]),
    ...(agent === undefined ? [] : [['s.agent = ?', agent] as const]),
    ...(status === undefined ? [] : [[`${ROW_STATUS_SQL} = ?`, status] as const]),
    ...(activity === undefined ? [] : [[hasActivitySql('?'), activity] as const]),
    ...(parent === null ? [['s.is_root = 1'] as const] : []),
    ...(typeof parent === 'string' ? [[IS_CHILD_OF, ...childParameters(parent)] as const] : []),
  ];
}

/** A comparison of tuples. Its first column has a comparison of its own, for which an index can be used. */
function isBehind(
  columns: readonly (keyof ListPosition)[],
  operator: string,
  after: Partial<ListPosition>,
): readonly [string, ...SqlValue[]] {
  const [first = 'id'] = columns;
  const names = columns.map((name) => `s.${name}`).join(', ');
  const placeholders = columns.map(() => '?').join(', ');
  return [
    `s.${first} ${operator}= ? AND (${names}) ${operator} (${placeholders})`,
    after[first] ?? 0,
    ...columns.map((name) => after[name] ?? 0),
  ];
}

/** Reads and locks a session and the sessions of agents that it called. Never waits. */
export async function lockFamily(
  queries: Transaction,
  t: TableNames,
  key: SessionKey,
): Promise<readonly FullRow[]> {
  const children = await queries.rows<Pick<FullRow, 'app' | 'user_id' | 'name'>>(
    `SELECT s.app, s.user_id, s.name FROM ${t('sessions')} AS s WHERE s.app = ? AND s.user_id = ? AND ${IS_CHILD_OF}`,
    [key.appName, key.userId, ...childParameters(key.sessionId)],
  );
  return lockSessions(queries, t, [key, ...children.map(toSessionKey)], 'fail');
}

/** The session of an agent that the parent called: a range of names, and the form of the rest of the name. */
const IS_CHILD_OF = `s.name > ? AND s.name < ? AND
  CONVERT(SUBSTRING(s.name, LENGTH(?) + 1) USING utf8mb4) COLLATE utf8mb4_bin REGEXP ?`;

function childParameters(parent: string): readonly string[] {
  // The character "0" follows "/", which begins the rest of the name.
  return [`${parent}/`, `${parent}0`, parent, `^${CHILD_REGEX}`];
}

function areKeys(keys: readonly SessionKey[]): string {
  return keys.map(() => '(s.app = ? AND s.user_id = ? AND s.name = ?)').join(' OR ');
}
