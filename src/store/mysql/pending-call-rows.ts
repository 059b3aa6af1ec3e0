import { toCallKey } from '../rules/call-key.ts';
import { checkPendingCallQuery } from '../rules/list-filters.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { formatPendingPosition, parsePendingPosition } from '../rules/pending-position.ts';
import { parsePendingCalls } from '../server/session-row.ts';
import type { PendingCallQuery, SessionPendingCall } from '../store.ts';
import type { TableNames } from './schema.ts';
import type { Reads, SqlValue } from './statement.ts';

interface IndexRow {
  readonly since: number;
  readonly session: number;
  readonly call_key: string;
  readonly user_id: string;
  readonly name: string;
  readonly agent: string;
  readonly pending: string | null;
  readonly updated_at: number;
}

/** Lists pending calls, the longest waiting first. */
export async function listPendingCalls(
  queries: Reads,
  t: TableNames,
  query: PendingCallQuery,
): Promise<readonly SessionPendingCall[]> {
  checkPendingCallQuery(query);
  const { appName, userId, agent, tool, needs } = query;
  const limit = parsePosition(query.limit, 'limit');
  const filters = [
    ['app', appName],
    ['user_id', userId],
    ['agent', agent],
    ['tool', tool],
    ['needs', needs],
  ] as const;
  const values: SqlValue[] = [];
  const where = filters.flatMap(([column, value]) => {
    if (value === undefined) return [];
    values.push(value);
    return [`p.${column} = ?`];
  });
  if (query.after !== undefined) {
    const [since, session, call] = parsePendingPosition(query.after);
    where.push('p.since >= ? AND (p.since, p.session, p.call_key) > (?, ?, ?)');
    values.push(since, since, session, call);
  }
  const rows = await queries.rows<IndexRow>(
    `SELECT p.since, p.session, p.call_key, s.user_id, s.name, s.agent, s.pending, s.updated_at
     FROM ${t('pending_calls')} AS p JOIN ${t('sessions')} AS s ON s.id = p.session
     WHERE ${where.join(' AND ')} ORDER BY p.since, p.session, p.call_key LIMIT ?`,
    [...values, limit],
  );
  return rows.flatMap((row) => {
    const key = { appName, userId: row.user_id, sessionId: row.name };
    const call = parsePendingCalls(row).find(({ callId }) => toCallKey(callId) === row.call_key);
    const position = formatPendingPosition([row.since, row.session, row.call_key]);
    return call === undefined ? [] : [{ key, agent: row.agent, call, position }];
  });
}
