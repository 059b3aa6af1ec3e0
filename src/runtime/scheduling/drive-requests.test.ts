import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import type { SessionRow } from '../../store/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { DriveRequests } from './drive-requests.ts';

async function createRow(): Promise<SessionRow> {
  const key = { appName: 'app', userId: 'default', sessionId: 's' };
  const store = new MemoryStore();
  await store.join('o');
  return (await store.create(key, { agent: 'a', owner: 'o', at: 0, netHash: '' })).row;
}

test('an outage of a dispatcher is reported once, and the next one again', async () => {
  const row = await createRow();
  const errors: unknown[] = [];
  const sent: string[] = [];
  let isAway = true;
  const requests = new DriveRequests({
    dispatcher: {
      dispatch: async ({ id }) => {
        sent.push(id);
        if (isAway) throw new Error('It is away.');
      },
    },
    store: new MemoryStore(),
    onError: (error) => void errors.push(error),
  });
  const send = async (count: number): Promise<void> => {
    const expected = sent.length + count;
    for (let n = 0; n < count; n++) requests.add(row);
    while (sent.length < expected) await setImmediate();
    await setImmediate();
  };
  await send(100);
  assert.deepEqual([errors.length, requests.isReady], [1, false]);
  isAway = false;
  await send(1);
  assert.deepEqual([errors.length, requests.isReady], [1, true]);
  isAway = true;
  await send(2);
  assert.deepEqual([errors.length, requests.isReady], [2, false]);
});

test('a dispatcher that does not answer has a bounded number of requests', async () => {
  const row = await createRow();
  const answer = Promise.withResolvers<void>();
  let sent = 0;
  const requests = new DriveRequests({
    dispatcher: {
      dispatch: async () => {
        sent++;
        await answer.promise;
      },
    },
    store: new MemoryStore(),
    onError: () => assert.fail(),
  });
  for (let n = 0; n < 20_000; n++) requests.add(row);
  await setImmediate();
  assert.deepEqual([sent, requests.isReady], [64, false]);
  answer.resolve();
  while (!requests.isReady) await setImmediate();
  assert.equal(sent, 10_064);
});
