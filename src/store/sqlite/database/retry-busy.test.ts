import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { busyBackoffMs, retryBusy } from './retry-busy.ts';

test('an action is retried while another connection holds the lock', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  const file = join(folder, 'x.db');
  const [ours, other] = [new DatabaseSync(file), new DatabaseSync(file)];
  ours.exec('PRAGMA busy_timeout = 0');
  other.exec('BEGIN EXCLUSIVE');
  const pauses: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    pauses.push(ms);
    if (pauses.length === 6) other.exec('COMMIT');
  };
  const done = retryBusy({ busyMs: 1000, sleep }, () => {
    ours.exec('CREATE TABLE t (x)');
    return 'done';
  });
  assert.equal(await done, 'done');
  assert.equal(pauses.length, 6);
  assert.deepEqual(pauses.slice(0, 3), [0, 0, 0]);
  ours.close();
  other.close();
  rmSync(folder, { recursive: true });
});

test('another error is not retried', async () => {
  const sleep = (): Promise<void> => assert.fail('slept');
  const fail = (): never => {
    throw new Error('no such table');
  };
  await assert.rejects(retryBusy({ busyMs: 1000, sleep }, fail), /no such table/);
});

test('retry pauses grow, vary, and stay short', () => {
  const late = Array.from({ length: 200 }, () => busyBackoffMs(20));
  assert.ok(late.every((ms) => ms >= 12 && ms <= 25));
  assert.ok(new Set(late).size > 5);
  assert.ok(busyBackoffMs(4) <= 2);
});
