import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DriveResult } from '../../runtime/index.ts';
import type { DriveRequest } from './drive-request.ts';
import { driveOnce } from './drive-once.ts';

const key = { appName: 'petrichor', userId: 'default', sessionId: 's' };

async function sendAfter(
  request: Pick<DriveRequest, 'id' | 'attempt'>,
  result: DriveResult,
): Promise<readonly (Pick<DriveRequest, 'id' | 'attempt'> & { readonly delayMs: number })[]> {
  const sent: (Pick<DriveRequest, 'id' | 'attempt'> & { readonly delayMs: number })[] = [];
  await driveOnce(
    { key, ...request },
    { drive: async () => result },
    { send: async ({ id, attempt }, delayMs) => void sent.push({ id, attempt, delayMs }) },
  );
  return sent;
}

test('a timer that is not due yet by the clock of this process is asked for under a new name', async () => {
  const next = { key, id: 'uid/3/1000', at: 0 };
  const [same] = await sendAfter({ id: 'uid/3/1000', attempt: 0 }, { state: 'rests', next });
  assert.deepEqual([same?.id, same?.attempt], ['uid/3/1000', 1]);
  const [other] = await sendAfter({ id: 'uid/2/1', attempt: 4 }, { state: 'rests', next });
  assert.deepEqual([other?.id, other?.attempt], ['uid/3/1000', 0]);
});

test('a session that was left alone is tried again, up to twelve times', async () => {
  const left = { state: 'left' } as const;
  assert.deepEqual(await sendAfter({ id: 'x', attempt: 0 }, left), [
    { id: 'x', attempt: 1, delayMs: 100 },
  ]);
  assert.deepEqual(await sendAfter({ id: 'x', attempt: 10 }, left), [
    { id: 'x', attempt: 11, delayMs: 5_000 },
  ]);
  assert.deepEqual(await sendAfter({ id: 'x', attempt: 11 }, left), []);
  assert.deepEqual(await sendAfter({ id: 'x', attempt: 0 }, { state: 'rests' }), []);
});
