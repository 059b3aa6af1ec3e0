import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SessionKey } from '../../../core/index.ts';
import { commitOk, createSession, getExisting, nextStep } from '../../contract/sample-steps.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';

test('a session gets a new number for the first change after a reader, and keeps it for those that nobody reads', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-changes-'));
  const store = await openSqliteStore(join(folder, 'store.db'));
  try {
    const read = async (after?: string): Promise<readonly [string, readonly string[]]> => {
      const query = { appName: 'app', limit: 10 };
      const page = await store.changes(after === undefined ? query : { ...query, after });
      return [page.cursor, page.changes.map(({ key }) => key.sessionId)];
    };
    await store.join('one');
    const a = await createSession(store, 'one', 'a');
    const b = await createSession(store, 'one', 'b');
    const [start] = await read();
    assert.equal(start, '2');
    const change = async (key: SessionKey): Promise<void> => {
      const row = await getExisting(store, key);
      const nothing = { records: 0, events: 0 };
      await commitOk(store, [nextStep(row, nothing, { records: [], events: [] })]);
    };
    for (const { key } of [a, b, a, a, b]) await change(key);
    const [next, changed] = await read(start);
    // Five commits, but one number for each session.
    assert.deepEqual([next, changed], ['4', ['a', 'b']]);
    await change(a.key);
    assert.deepEqual(await read(next), ['5', ['a']]);
    // A reader that is behind finds each session once, where it is now.
    assert.deepEqual(await read(start), ['5', ['b', 'a']]);
    // A reader that finds nothing has the same position.
    assert.deepEqual(await read('5'), ['5', []]);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
