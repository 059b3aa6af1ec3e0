import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { safeListener } from './safe-listener.ts';

test('a listener receives the arguments', () => {
  const received: unknown[] = [];
  safeListener('onError', (...all: readonly unknown[]) => received.push(...all))('one', 2);
  assert.deepEqual(received, ['one', 2]);
  safeListener('onError', undefined)('nobody');
});

test('a listener that throws or rejects becomes a warning with its name', async () => {
  for (const fails of [
    () => {
      throw new Error('bad listener');
    },
    async () => Promise.reject(new Error('bad listener')),
  ]) {
    const warned = once(process, 'warning');
    safeListener('onError', fails)();
    const [warning] = await warned;
    assert.equal(warning instanceof Error && warning.message, 'onError threw: bad listener');
  }
});
