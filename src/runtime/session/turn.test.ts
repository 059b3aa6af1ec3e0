import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureOldSpaceGrowth } from '../../../test/old-space-growth.ts';
import { createTurn } from './turn.ts';

test('a turn that nobody keeps leaves nothing in the old space of V8', () => {
  const send = (): unknown =>
    createTurn({
      session: 'x',
      invocationId: 'e-1',
      sent: Promise.withResolvers<never>().promise,
      readLog: () => assert.fail(),
      begins: () => false,
      findWait: async () => undefined,
      listPending: async () => [],
    });
  assert.ok(measureOldSpaceGrowth(() => void send()) < 20);
});
