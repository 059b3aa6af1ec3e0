import { addUsage as addTokens, type SessionKey } from '../../core/index.ts';
import { checkUsageQuery, TOKEN_COUNTS, toUsageTotal } from '../rules/usage-rules.ts';
import type { StepUsage, UsageQuery, UsageTotal } from '../store.ts';
import type { Queries } from './database.ts';

const COUNTS = ['input', 'output', 'total', 'thinking', 'cache_read', 'cache_write'] as const;

/** The number of rows that a group can have. Connections with different rows do not wait for each other. */
const PARTS = 16;

interface AddedUsage {
  readonly key: SessionKey;
  readonly agent: string;
  readonly usage: StepUsage;
}

/** Adds the usage of steps, in the open transaction. */
export async function addUsage(
  queries: Queries,
  schema: string,
  added: readonly AddedUsage[],
): Promise<void> {
  if (added.length === 0) return;
  const groups = new Map<string, AddedUsage>();
  for (const one of added) {
    const { key, agent, usage } = one;
    const name = [key.appName, usage.day, key.userId, agent, usage.model].join('\0');
    const known = groups.get(name)?.usage;
    const merged =
      known === undefined
        ? usage
        : {
            ...usage,
            calls: known.calls + usage.calls,
            tokens: addTokens(known.tokens, usage.tokens),
          };
    groups.set(name, { key, agent, usage: merged });
  }
  // In one order in every transaction, so that transactions cannot deadlock.
  const rows = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, row]) => row);
  const sum = (name: string): string =>
    `${name} = CASE WHEN excluded.${name} IS NULL THEN u.${name} ELSE coalesce(u.${name}, 0) + excluded.${name} END`;
  await queries.rows(
    `INSERT INTO ${schema}.usage AS u (app, day, user_id, agent, model, part, calls, ${COUNTS.join(', ')})
     SELECT app, day, user_id, agent, model, pg_backend_pid() % ${PARTS}, calls, ${COUNTS.join(', ')}
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
       $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
       AS added (app, day, user_id, agent, model, calls, ${COUNTS.join(', ')})
     ON CONFLICT (app, day, user_id, agent, model, part) DO UPDATE SET
       calls = u.calls + excluded.calls, ${COUNTS.map(sum).join(', ')}`,
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
  /** As many members as `COUNTS`. */
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
  const values: string[] = [];
  const filters = [
    ['app =', appName],
    ['day >=', from],
    ['day <=', to],
    ['user_id =', userId],
    ['agent =', agent],
  ] as const;
  const where = filters.flatMap(([sql, value]) =>
    value === undefined ? [] : [`${sql} $${values.push(value)}`],
  );
  const columns = by.map((one) => (one === 'user' ? 'user_id' : one));
  const names = by.map((one) => (one === 'user' ? 'user_id AS "user"' : one));
  const counts = COUNTS.map((name) => `sum(${name})::float8`).join(', ');
  const rows = await queries.rows<GroupRow>(
    `SELECT ${[...names, 'sum(calls)::float8 AS calls', `ARRAY[${counts}] AS counts`].join(', ')}
     FROM ${schema}.usage WHERE ${where.join(' AND ')}
     ${columns.length === 0 ? 'HAVING count(*) > 0' : `GROUP BY ${columns.join(', ')} ORDER BY ${columns.join(', ')}`}`,
    values,
  );
  return rows.map(({ calls, ...row }) => toUsageTotal({ ...row, calls: calls ?? 0 }, by));
}
