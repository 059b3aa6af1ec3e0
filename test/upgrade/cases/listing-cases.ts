import assert from 'node:assert/strict';
import { openRuntime } from '../../../src/runtime/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { RELEASED_AT, releasedAgent, reminderAgent } from '../released-agents.ts';
import { countedTools, model, readUntil } from './released-case.ts';
import type { ReleasedCase } from './released-case.ts';

/** The indexes over all sessions, which version 0.1.0 did not have. */
export const listingCases: readonly ReleasedCase[] = [
  {
    name: 'pending calls: those that wait are listed before any session is opened',
    check: async (open) => {
      const store = await open('plain');
      const listed = await store.pendingCalls({ appName: 'petrichor', limit: 10 });
      assert.deepEqual(
        new Set(listed.map(({ key, call }) => `${key.sessionId} ${call.name} ${call.needs}`)),
        new Set(['approval delete approval', 'parallel ask result', 'result ask result']),
      );
      for (const { key, agent, call } of listed) {
        const row = await store.find(key);
        assert.deepEqual([agent, call.since], [row?.agent, row?.updatedAt]);
        assert.deepEqual(row?.pending, [call]);
      }
    },
  },
  {
    name: 'pending calls, session changes and usage: follow the sessions that go on',
    check: async (open) => {
      const store = await open('plain');
      const { tools } = countedTools();
      const { cursor } = await store.changes({ appName: 'petrichor', limit: 1 });
      await using runtime = await openRuntime({
        agents: [releasedAgent(model, tools), reminderAgent(model)],
        store,
        clock: new SimulatedClock(RELEASED_AT + 1_000),
      });
      const session = await runtime.session('approval');
      const [call] = await session.pending();
      await session.approve(call?.id ?? '').accepted;
      await readUntil(session.events(), 'turn.ended');
      const listed = await store.pendingCalls({ appName: 'petrichor', tool: 'delete', limit: 10 });
      assert.deepEqual(listed, []);
      assert.equal(await runtime.delete('approval'), true);
      const seen = new Set<string>();
      let after = cursor;
      while (!seen.has('deleted approval')) {
        const page = await store.changes({ appName: 'petrichor', after, limit: 10 });
        after = page.cursor;
        for (const { type, key } of page.changes) seen.add(`${type} ${key.sessionId}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.ok(!seen.has('created approval'));
    },
  },
];
