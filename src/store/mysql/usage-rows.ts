import {
  checkUsageQuery,
  listUsageDays,
  TOKEN_COUNTS,
  toUsageTotal,
} from '../rules/usage-rules.ts';
import { COUNT_COLUMNS, USAGE_PARTS, type SessionUsage } from '../server/usage-groups.ts';
import type { UsageQuery, UsageTotal } from '../store.ts';
import type { TableNames } from './schema.ts';
import { tuples, type Reads, type Transaction } from './statement.ts';

/** Queues the addition of usage to its groups. */
export function addUsage(
  queries: Transaction,
  t: TableNames,
  groups: readonly SessionUsage[],
): void {
  const columns = ['app', 'day', 'user_id', 'agent', 'model', 'calls', ...COUNT_COLUMNS];
  const sum = (name: string): string =>
    `${name} = CASE WHEN VALUES(${name}) IS NULL THEN ${name} ELSE COALESCE(${name}, 0) + VALUES(${name}) END`;
  for (const { key, agent, usage } of groups)
    queries.add(
      `INSERT INTO ${t('usage')} (part, ${columns.join(', ')})
       VALUES (CONNECTION_ID() % ${USAGE_PARTS}, ${tuples(1, columns.length).slice(1)}
       ON DUPLICATE KEY UPDATE calls = calls + VALUES(calls), ${COUNT_COLUMNS.map(sum).join(', ')}`,
      [
        key.appName,
        usage.day,
        key.userId,
        agent,
        usage.model,
        usage.calls,
        ...TOKEN_COUNTS.map((name) => usage.tokens[name] ?? null),
      ],
    );
}

type GroupRow = Readonly<Record<(typeof COUNT_COLUMNS)[number] | 'calls', number | null>> & {
  readonly agent?: string;
  readonly user?: string;
  readonly day?: string;
  readonly model?: string;
};

/** Sums usage by groups. */
export async function readUsage(
  queries: Reads,
  t: TableNames,
  query: UsageQuery,
): Promise<readonly UsageTotal[]> {
  checkUsageQuery(query);
  const { appName, by, from, to, userId, agent } = query;
  const days = listUsageDays(query);
  const filters = (
    [
      ['app = ?', appName],
      [`day IN (${(days ?? []).map(() => '?').join(', ')})`, days],
      ['day >= ?', days === undefined ? from : undefined],
      ['day <= ?', days === undefined ? to : undefined],
      ['user_id = ?', userId],
      ['agent = ?', agent],
    ] as const
  ).flatMap(([sql, value]) => (value === undefined ? [] : [[sql, value] as const]));
  const columns = by.map((one) => (one === 'user' ? 'user_id' : one));
  const names = by.map((one) => (one === 'user' ? 'user_id AS `user`' : one));
  const sums = ['calls', ...COUNT_COLUMNS].map((name) => `SUM(${name}) AS ${name}`);
  const rows = await queries.rows<GroupRow>(
    `SELECT ${[...names, ...sums].join(', ')} FROM ${t('usage')} WHERE ${filters.map(([sql]) => sql).join(' AND ')}
     ${columns.length === 0 ? 'HAVING COUNT(*) > 0' : `GROUP BY ${columns.join(', ')} ORDER BY ${columns.join(', ')}`}`,
    filters.flatMap(([, value]) => value),
  );
  return rows.map((row) => {
    const counts = COUNT_COLUMNS.map((name) => row[name]);
    return toUsageTotal({ ...row, calls: row.calls ?? 0, counts }, by);
  });
}
