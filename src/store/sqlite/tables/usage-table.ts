import type { SessionKey } from '../../../core/index.ts';
import {
  checkUsageQuery,
  listUsageDays,
  TOKEN_COUNTS,
  toUsageTotal,
} from '../../rules/usage-rules.ts';
import type { StepUsage, UsageDimension, UsageQuery, UsageTotal } from '../../store.ts';
import type { Connection, Statement } from '../database/connection.ts';

interface UsageColumns {
  readonly agent?: string;
  readonly user?: string;
  readonly day?: string;
  readonly model?: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly thinking: number | null;
  readonly cache_read: number | null;
  readonly cache_write: number | null;
}

const COUNTS = ['input', 'output', 'total', 'thinking', 'cache_read', 'cache_write'] as const;

/** The usage by app, day, user, agent and model. */
export class UsageTable {
  readonly #connection: Connection;
  readonly #add: Statement<never>;

  constructor(connection: Connection) {
    this.#connection = connection;
    const sum = (name: string): string =>
      `${name} = CASE WHEN excluded.${name} IS NULL THEN ${name} ELSE coalesce(${name}, 0) + excluded.${name} END`;
    this.#add = connection.prepare(`
      INSERT INTO usage (app, day, user, agent, model, calls, ${COUNTS.join(', ')})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (app, day, user, agent, model) DO UPDATE SET
        calls = calls + excluded.calls, ${COUNTS.map(sum).join(', ')}`);
  }

  /** Adds the usage of a step, in the transaction of the step. */
  add({ appName, userId }: SessionKey, agent: string, usage: readonly StepUsage[]): void {
    for (const { day, model, calls, tokens } of usage) {
      const counts = TOKEN_COUNTS.map((name) => tokens[name] ?? null);
      this.#add.run(appName, day, userId, agent, model, calls, ...counts);
    }
  }

  read(query: UsageQuery): readonly UsageTotal[] {
    checkUsageQuery(query);
    const { by } = query;
    const { sql, values } = readUsageSql(query);
    return this.#connection
      .prepare<UsageColumns>(sql)
      .all(...values)
      .map((row) => {
        const { agent: ofAgent, user, day, model, calls } = row;
        const names = { agent: ofAgent, user, day, model };
        const present = Object.fromEntries(by.map((one) => [one, names[one] ?? '']));
        return toUsageTotal({ ...present, calls, counts: COUNTS.map((name) => row[name]) }, by);
      });
  }
}

/** The query that sums usage, with the values of its parameters. */
export function readUsageSql(query: UsageQuery): {
  readonly sql: string;
  readonly values: readonly string[];
} {
  const { appName, by, from, to, userId, agent } = query;
  const days = listUsageDays(query);
  const filters = [
    ['app = ?', appName],
    [`day IN (${(days ?? []).map(() => '?').join(', ')})`, days],
    ['day >= ?', days === undefined ? from : undefined],
    ['day <= ?', days === undefined ? to : undefined],
    ['user = ?', userId],
    ['agent = ?', agent],
  ] as const;
  const given = filters.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const columns: readonly UsageDimension[] = by;
  const sums = ['calls', ...COUNTS].map((name) => `sum(${name}) AS ${name}`);
  const group = columns.length === 0 ? '' : `GROUP BY ${columns.join(', ')}`;
  const order = columns.length === 0 ? '' : `ORDER BY ${columns.join(', ')}`;
  const sql = `
      SELECT ${[...columns, ...sums].join(', ')} FROM usage WHERE ${given.map((one) => one.sql).join(' AND ')}
      ${group} HAVING count(*) > 0 ${order}`;
  return { sql, values: given.flatMap(({ value }) => value) };
}
