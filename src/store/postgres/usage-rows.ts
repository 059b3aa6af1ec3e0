import {
  checkUsageQuery,
  listUsageDays,
  TOKEN_COUNTS,
  toUsageTotal,
} from '../rules/usage-rules.ts';
import { COUNT_COLUMNS, USAGE_PARTS, type SessionUsage } from '../server/usage-groups.ts';
import type { UsageQuery, UsageTotal } from '../store.ts';
import type { Queries, WriteQueries } from './queries.ts';

/** Adds the usage of groups, in the open transaction. */
export function addUsage(
  queries: WriteQueries,
  schema: string,
  rows: readonly SessionUsage[],
): void {
  if (rows.length === 0) return;
  const sum = (name: string): string =>
    `${name} = CASE WHEN excluded.${name} IS NULL THEN u.${name} ELSE coalesce(u.${name}, 0) + excluded.${name} END`;
  queries.add(
    `INSERT INTO ${schema}.usage AS u (app, day, user_id, agent, model, part, calls, ${COUNT_COLUMNS.join(', ')})
     SELECT app, day, user_id, agent, model, pg_backend_pid() % ${USAGE_PARTS}, calls, ${COUNT_COLUMNS.join(', ')}
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
       $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
       AS added (app, day, user_id, agent, model, calls, ${COUNT_COLUMNS.join(', ')})
     ON CONFLICT (app, day, user_id, agent, model, part) DO UPDATE SET
       calls = u.calls + excluded.calls, ${COUNT_COLUMNS.map(sum).join(', ')}`,
    [
      rows.map(({ key }) => key.appName),
      rows.map(({ usage }) => usage.day),
      rows.map(({ key }) => key.userId),
      rows.map(({ agent }) => agent),
      rows.map(({ usage }) => usage.model),
      rows.map(({ usage }) => usage.calls),
      ...TOKEN_COUNTS.map((name) => rows.map(({ usage }) => usage.tokens[name] ?? null)),
    ],
  );
}

interface GroupRow {
  readonly agent?: string;
  readonly user?: string;
  readonly day?: string;
  readonly model?: string;
  readonly calls: number | null;
  /** As many members as `COUNT_COLUMNS`. */
  readonly counts: readonly (number | null)[];
}

/** Sums usage by groups. */
export async function readUsage(
  queries: Queries,
  schema: string,
  query: UsageQuery,
): Promise<readonly UsageTotal[]> {
  checkUsageQuery(query);
  const { appName, by, from, to, userId, agent } = query;
  const days = listUsageDays(query);
  const values: (string | readonly string[])[] = [];
  const filters = [
    ['app = $', appName],
    ['day = ANY($::text[])', days],
    ['day >= $', days === undefined ? from : undefined],
    ['day <= $', days === undefined ? to : undefined],
    ['user_id = $', userId],
    ['agent = $', agent],
  ] as const;
  const where = filters.flatMap(([sql, value]) =>
    value === undefined ? [] : [sql.replace('$', () => `$${values.push(value)}`)],
  );
  const columns = by.map((one) => (one === 'user' ? 'user_id' : one));
  const names = by.map((one) => (one === 'user' ? 'user_id AS "user"' : one));
  const counts = COUNT_COLUMNS.map((name) => `sum(${name})::float8`).join(', ');
  const rows = await queries.rows<GroupRow>(
    `SELECT ${[...names, 'sum(calls)::float8 AS calls', `ARRAY[${counts}] AS counts`].join(', ')}
     FROM ${schema}.usage WHERE ${where.join(' AND ')}
     ${columns.length === 0 ? 'HAVING count(*) > 0' : `GROUP BY ${columns.join(', ')} ORDER BY ${columns.join(', ')}`}`,
    values,
  );
  return rows.map(({ calls, ...row }) => toUsageTotal({ ...row, calls: calls ?? 0 }, by));
}
