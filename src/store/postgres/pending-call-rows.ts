import { toCallKey } from '../rules/call-key.ts';
import { checkPendingCallQuery } from '../rules/list-filters.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { formatPendingPosition, parsePendingPosition } from '../rules/pending-position.ts';
import type { PendingCallEntry } from '../server/step-writes.ts';
import { parsePendingCalls } from '../server/session-row.ts';
import type { PendingCallQuery, SessionPendingCall } from '../store.ts';
import type { Queries, WriteQueries } from './queries.ts';

/** Replaces the index entries of these sessions, in the open transaction. */
export function replacePendingCalls(
  queries: WriteQueries,
  schema: string,
  sessions: readonly number[],
  entries: readonly PendingCallEntry[],
): void {
  if (sessions.length === 0) return;
  queries.add(`DELETE FROM ${schema}.pending_calls WHERE session = ANY($1::bigint[])`, [sessions]);
  if (entries.length === 0) return;
  queries.add(
    `INSERT INTO ${schema}.pending_calls (session, call, app, since, user_id, agent, tool, needs)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
       $8::text[])
     ON CONFLICT DO NOTHING`,
    [
      entries.map(({ id }) => id),
      entries.map(({ call }) => toCallKey(call.callId)),
      entries.map(({ key }) => key.appName),
      entries.map(({ call }) => call.since),
      entries.map(({ key }) => key.userId),
      entries.map(({ agent }) => agent),
      entries.map(({ call }) => call.name),
      entries.map(({ call }) => call.needs),
    ],
  );
}

interface IndexRow {
  readonly since: number;
  readonly session: number;
  readonly call: string;
  readonly user_id: string;
  readonly name: string;
  readonly agent: string;
  readonly pending: string | null;
  readonly updated_at: number;
}

/** Lists pending calls, the longest waiting first. */
export async function listPendingCallRows(
  queries: Queries,
  schema: string,
  query: PendingCallQuery,
): Promise<readonly SessionPendingCall[]> {
  checkPendingCallQuery(query);
  const { appName, userId, agent, tool, needs } = query;
  const limit = parsePosition(query.limit, 'limit');
  const after = query.after === undefined ? undefined : parsePendingPosition(query.after);
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const filters = [
    ['app', appName],
    ['user_id', userId],
    ['agent', agent],
    ['tool', tool],
    ['needs', needs],
  ] as const;
  const where = filters.flatMap(([column, value]) =>
    value === undefined ? [] : [`p.${column} = ${parameter(value)}`],
  );
  if (after !== undefined)
    where.push(
      `(p.since, p.session, p.call) > (${parameter(after[0])}::bigint, ${parameter(after[1])}::bigint, ${parameter(after[2])}::text)`,
    );
  const rows = await queries.rows<IndexRow>(
    `SELECT p.since, p.session, p.call, s.user_id, s.name, s.agent, s.pending, s.updated_at
     FROM ${schema}.pending_calls AS p JOIN ${schema}.sessions AS s ON s.id = p.session
     WHERE ${where.join(' AND ')} ORDER BY p.since, p.session, p.call LIMIT ${parameter(limit)}`,
    values,
  );
  return rows.flatMap((row) => {
    const key = { appName, userId: row.user_id, sessionId: row.name };
    const call = parsePendingCalls(row).find(
      ({ callId }) => callId === row.call || toCallKey(callId) === row.call,
    );
    const position = formatPendingPosition([row.since, row.session, row.call]);
    return call === undefined ? [] : [{ key, agent: row.agent, call, position }];
  });
}
