import { parsePosition } from '../rules/parse-position.ts';
import { LOOK_AHEAD_MS } from '../rules/runnable-position.ts';
import type { RunnableQuery } from '../store.ts';
import type { Queries } from './queries.ts';
import type { OwnerRow } from '../server/owner-failure-detector.ts';
import type { RunnableRows } from '../server/server-tables.ts';
import { toKeyParameters } from '../server/session-row.ts';
import { ownersSql } from './owners-sql.ts';
import { IS_IN_FLIGHT, IS_TIMED, IS_UNREAD } from './schema.ts';
import { FULL_ROW } from './session-rows.ts';

/** A position before all sessions. */
const BEFORE_ALL = [-Number.MAX_SAFE_INTEGER, '', '', ''] as const;

/** How many of the next timers are read in search of one that this owner may run. */
const MAX_TIMERS_AHEAD = 256;

/**
 * Finds sessions with work, in one statement. Each kind of work has an index in the order of the list, so the statement
 * reads as many rows as it returns, and those of other live owners that have work just now. The sessions in flight, of
 * which a fleet has many all the time, are read for each owner that is not alive.
 * @param dead the owners that are known to be dead; every other owner in the table counts as alive
 */
export async function findRunnableRows(
  queries: Queries,
  schema: string,
  query: RunnableQuery & { readonly dead: readonly OwnerRow[] },
): Promise<RunnableRows> {
  const { after, dead } = query;
  const [found] = await queries.rows<RunnableRows>(runnableSql(schema), [
    query.agents ?? null,
    query.owner,
    query.now,
    query.appName ?? null,
    parsePosition(query.limit, 'limit'),
    dead.map(({ name }) => name),
    dead.map(({ lock }) => lock),
    ...(after === undefined ? BEFORE_ALL : [after.since, ...toKeyParameters(after.key)]),
  ]);
  return found ?? { rows: [], due: null, owners: [] };
}

const MAY_RUN_HERE = `($1::text[] IS NULL OR s.agent = ANY($1)) AND ($4::text IS NULL OR s.app = $4)`;
const HAS_NO_OTHER_OWNER = '(s.owner IS NULL OR s.owner NOT IN (SELECT name FROM others))';

function runnableSql(schema: string): string {
  const sessions = `${schema}.sessions AS s`;
  const list = (
    since: 'next_due_at' | 'updated_at',
    condition: string,
    ownedBy: string = HAS_NO_OTHER_OWNER,
  ): string => `(
    SELECT s.${since} AS since, ${FULL_ROW} FROM ${sessions}
    WHERE ${condition} AND ${ownedBy} AND ${MAY_RUN_HERE}
      AND (s.${since}, s.app, s.user_id, s.name) > ($8::bigint, $9::text, $10::text, $11::text)
    ORDER BY s.${since}, s.app, s.user_id, s.name LIMIT $5)`;
  return `
    WITH RECURSIVE
      present AS MATERIALIZED (${ownersSql(schema)}),
      others AS MATERIALIZED (
        SELECT p.name FROM present AS p
        WHERE p.name <> $2 AND (p.name, p.lock) NOT IN (SELECT * FROM unnest($6::text[], $7::integer[]))),
      running (owner) AS (
        SELECT min(s.owner) FROM ${sessions} WHERE ${IS_IN_FLIGHT}
        UNION ALL
        SELECT (SELECT min(s.owner) FROM ${sessions} WHERE ${IS_IN_FLIGHT} AND s.owner > running.owner)
        FROM running WHERE running.owner IS NOT NULL),
      found AS (
        SELECT taken.* FROM running CROSS JOIN LATERAL ${list('updated_at', IS_IN_FLIGHT, 's.owner = running.owner')} AS taken
        WHERE running.owner NOT IN (SELECT name FROM others)
        UNION ALL ${list('updated_at', IS_IN_FLIGHT, 's.owner IS NULL')}
        UNION ALL ${list('updated_at', IS_UNREAD)}
        UNION ALL ${list('next_due_at', `${IS_TIMED} AND s.next_due_at <= $3::bigint`)}),
      page AS (
        SELECT s.* FROM found AS s ORDER BY s.since, s.app, s.user_id, s.name LIMIT $5),
      ahead AS (
        SELECT s.next_due_at, s.owner, s.agent, s.app FROM ${sessions}
        WHERE ${IS_TIMED} AND s.next_due_at > $3::bigint AND s.next_due_at <= $3::bigint + ${LOOK_AHEAD_MS}
        ORDER BY s.next_due_at LIMIT ${MAX_TIMERS_AHEAD})
    SELECT
      (SELECT coalesce(json_agg(p), '[]') FROM present AS p) AS owners,
      (SELECT min(s.next_due_at) FROM ahead AS s WHERE ${HAS_NO_OTHER_OWNER} AND ${MAY_RUN_HERE}) AS due,
      (SELECT coalesce(json_agg(s), '[]')
       FROM (SELECT s.* FROM page AS s ORDER BY s.since, s.app, s.user_id, s.name) AS s) AS rows`;
}
