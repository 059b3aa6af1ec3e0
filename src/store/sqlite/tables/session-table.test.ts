import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { migrate } from '../database/migrations.ts';
import { MIGRATIONS } from '../database/schema.ts';
import { FIND_RUNNABLE, HAS_WORK, listSessionsSql, NEXT_DUE_AT } from './session-table.ts';

for (const [name, sql] of Object.entries({ NEEDING_WORK: FIND_RUNNABLE, HAS_WORK, NEXT_DUE_AT })) {
  test(`${name} scans no idle session, however many there are`, () => {
    const plan = explainQuery(sql);
    assert.ok(
      plan.some((line) => /SEARCH \w+ USING (COVERING )?INDEX sessions_with_work/.test(line)),
    );
    // No full scans, except of the inbox, which has unread inputs only, and there only the first row.
    const scans = plan.filter((line) => /^SCAN (sessions|s|steps|input_keys)\b/.test(line));
    assert.deepEqual(scans, []);
  });
}

test('a list of a user by creation reads an index in order, from any position', () => {
  const filter = { appName: 'app', userId: 'ada', parent: null, order: 'created' } as const;
  const after = { created_at: 1, app: 'app', user: 'ada', name: 's' };
  for (const direction of ['ascending', 'descending'] as const) {
    const selected = { ...filter, direction };
    assert.deepEqual(explainQuery(listSessionsSql(selected, undefined).sql).slice(0, 1), [
      'SEARCH s USING INDEX sessions_by_creation (app=? AND user=?)',
    ]);
    const plan = explainQuery(listSessionsSql(selected, after).sql);
    assert.match(
      plan.join('\n'),
      /^SEARCH s USING INDEX sessions_by_creation \(app=\? AND user=\? AND \(created_at,name\)[<>]/,
    );
    assert.doesNotMatch(plan.join('\n'), /TEMP B-TREE/);
  }
});

test('a list of all users by creation reads an index in order, from any position', () => {
  const filter = { appName: 'app', parent: null, order: 'created' } as const;
  const after = { created_at: 1, app: 'app', user: 'ada', name: 's' };
  for (const direction of ['ascending', 'descending'] as const)
    for (const position of [undefined, after]) {
      const { sql } = listSessionsSql({ ...filter, direction }, position);
      const plan = explainQuery(sql).join('\n');
      assert.match(
        plan,
        position === undefined
          ? /^SEARCH s USING INDEX sessions_by_creation_of_any_user \(app=\?\)/
          : /^SEARCH s USING INDEX sessions_by_creation_of_any_user \(app=\? AND \(created_at,name,user\)[<>]/,
      );
      assert.doesNotMatch(plan, /TEMP B-TREE/);
    }
});

test('a query plan that scans every session would be detected', () => {
  assert.match(
    explainQuery('SELECT * FROM sessions AS s WHERE s.in_flight > 0').join('\n'),
    /^SCAN s$/m,
  );
});

function explainQuery(sql: string): readonly string[] {
  const database = new DatabaseSync(':memory:');
  migrate(database, ':memory:', MIGRATIONS);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  database.close();
  return rows.map((row) => String(row['detail']));
}
