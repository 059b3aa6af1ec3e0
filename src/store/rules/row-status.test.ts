import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ROW_STATUS_SQL, toRowStatus } from './row-status.ts';

test('a row of an earlier release, which has no status, gets it from its activity', () => {
  const row = { failures: 0, lastSeq: 4, status: null };
  assert.equal(toRowStatus({ ...row, activity: 'idle' }), 'idle');
  assert.equal(toRowStatus({ ...row, activity: 'waiting' }), 'waiting');
  assert.equal(toRowStatus({ ...row, activity: 'idle', lastSeq: 0 }), 'queued');
  assert.equal(toRowStatus({ ...row, activity: 'running', lastSeq: 0 }), 'running');
});

test('a query computes the same status as the row that it returns', () => {
  const database = new DatabaseSync(':memory:');
  try {
    const select = database.prepare(
      `SELECT ${ROW_STATUS_SQL} AS found
       FROM (SELECT ? AS failures, ? AS last_seq, ? AS status, ? AS phase) AS s`,
    );
    for (const failures of [0, 2, 3, 4])
      for (const lastSeq of [0, 1])
        for (const activity of ['idle', 'running', 'waiting'] as const)
          for (const status of [null, 'queued', 'idle', 'paused', 'archived'])
            assert.equal(
              select.get(failures, lastSeq, activity, status)?.['found'],
              toRowStatus({ failures, lastSeq, activity, status }),
              JSON.stringify({ failures, lastSeq, activity, status }),
            );
  } finally {
    database.close();
  }
});
