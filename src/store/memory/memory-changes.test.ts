import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { array, assert as check, asyncProperty, constantFrom, nat, record } from 'fast-check';
import type { SessionKey } from '../../core/index.ts';
import { MemoryStore } from './memory-store.ts';
import { MemorySession } from './memory-session.ts';
import { MemoryChanges } from './memory-changes.ts';

const INIT = { agent: 'agent', owner: 'owner', at: 0, netHash: 'net' };

const toKey = (n: number): SessionKey => ({ appName: 'app', userId: 'user', sessionId: `s${n}` });

test('each session is listed at its last change, also when it was deleted and created again', async () => {
  const step = record({ session: nat(3), change: constantFrom('create', 'touch', 'delete') });
  await check(
    asyncProperty(array(step, { maxLength: 40 }), nat(40), async (steps, from) => {
      const store = new MemoryStore();
      await store.join('owner');
      let cursor = (await store.changes({ appName: 'app', limit: 1 })).cursor;
      const expected = new Map<string, 'deleted' | 'listed'>();
      const exists = new Set<string>();
      for (const [index, { session, change }] of steps.entries()) {
        const key = toKey(session);
        if (index === from) {
          cursor = (await store.changes({ appName: 'app', limit: 1 })).cursor;
          expected.clear();
        }
        if (change === 'create' ? exists.has(key.sessionId) : !exists.has(key.sessionId)) continue;
        if (change === 'create') await store.create(key, INIT);
        else if (change === 'touch') await store.touch(key);
        else await store.delete(key);
        if (change === 'delete') exists.delete(key.sessionId);
        else exists.add(key.sessionId);
        expected.delete(key.sessionId);
        expected.set(key.sessionId, change === 'delete' ? 'deleted' : 'listed');
      }
      const { changes } = await store.changes({ appName: 'app', after: cursor, limit: 100 });
      assert.deepEqual(
        changes.map(({ key, type }) => [key.sessionId, type === 'deleted' ? type : 'listed']),
        [...expected],
      );
      await store.close();
    }),
  );
});

test('a deleted session is not kept in memory for the list of changes', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const changes = new MemoryChanges();
  const deleted = ((): WeakRef<MemorySession> => {
    const session = new MemorySession(toKey(1), { ...INIT, uid: 'uid', order: 1 });
    changes.add(session);
    changes.add(session);
    session.deleted = true;
    changes.add(session);
    return new WeakRef(session);
  })();
  await nextTurn();
  collect();
  assert.equal(deleted.deref(), undefined);
  const after = changes.read({ appName: 'app', limit: 1 }).cursor.replace(/^\d+/, '0');
  const [change] = changes.read({ appName: 'app', after, limit: 10 }).changes;
  assert.equal(change?.type, 'deleted');
});
