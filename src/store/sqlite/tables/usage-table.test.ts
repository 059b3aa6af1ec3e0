import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { migrate } from '../database/migrations.ts';
import { MIGRATIONS } from '../database/schema.ts';
import { readUsageSql } from './usage-table.ts';

test('the usage of a user in some days is read without the rows of other users', () => {
  const query = {
    appName: 'app',
    userId: 'ada',
    by: ['day', 'model'],
    from: '2026-01-01',
  } as const;
  const { sql, values } = readUsageSql({ ...query, to: '2026-01-31' });
  assert.deepEqual([values[1], values[31], values.length], ['2026-01-01', '2026-01-31', 33]);
  assert.match(
    explainQuery(sql),
    /^SEARCH usage USING PRIMARY KEY \(app=\? AND day=\? AND user=\?\)/,
  );
  // A query without a last day reads those of all users.
  assert.match(explainQuery(readUsageSql(query).sql), /\(app=\? AND day>\?\)/);
});

function explainQuery(sql: string): string {
  const database = new DatabaseSync(':memory:');
  migrate(database, ':memory:', MIGRATIONS);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  database.close();
  return rows.map((row) => String(row['detail'])).join('\n');
}
