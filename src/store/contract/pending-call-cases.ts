import assert from 'node:assert/strict';
import { childSessionId, InvalidInputError } from '../../core/index.ts';
import type { PendingCallQuery, SessionRow, Store, StoredPendingCall } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  AT,
  commitOk,
  commitOne,
  createSession,
  nextStep,
  getExisting,
  summary,
} from './sample-steps.ts';

function call(callId: string, more: Partial<StoredPendingCall> = {}): StoredPendingCall {
  return {
    callId,
    name: 'rm',
    args: { path: callId },
    needs: 'approval',
    invocationId: 'e-1',
    fingerprint: 'f',
    since: AT,
    ...more,
  };
}

/** Commits a step that leaves these calls pending. */
async function wait(
  store: Store,
  row: SessionRow,
  ...pending: readonly StoredPendingCall[]
): Promise<SessionRow> {
  const status = pending.length > 0 ? 'waiting' : 'idle';
  const step = nextStep(row, undefined, {
    records: [],
    events: [],
    summary: summary({ status, activity: status, pending }),
  });
  await commitOk(store, [step]);
  return getExisting(store, row.key);
}

/** Lists all pages. */
async function listIds(
  store: Store,
  query: Partial<PendingCallQuery> = {},
): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await store.pendingCalls({
      appName: 'app',
      limit: 2,
      ...query,
      ...(after === undefined ? {} : { after }),
    });
    ids.push(...page.map((one) => one.call.callId));
    after = page.at(-1)?.position;
    if (after === undefined) return ids;
  }
}

export const pendingCallCases: readonly StoreContractCase[] = [
  storeContractCase(
    'the pending calls of all sessions are listed by age, in pages',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const first = await createSession(store, 'one', 'a');
      const second = await createSession(store, 'one', 'b');
      const third = await createSession(store, 'one', 'c');
      await wait(store, first, call('a2', { since: AT + 2 }), call('a9', { since: AT + 9 }));
      await wait(store, second, call('b1', { since: AT + 1 }), call('b5', { since: AT + 5 }));
      const row = await wait(store, third, call('c5', { since: AT + 5 }));
      assert.deepEqual(await listIds(store), ['b1', 'a2', 'b5', 'c5', 'a9']);
      const [oldest] = await store.pendingCalls({ appName: 'app', limit: 1 });
      assert.deepEqual(
        { key: oldest?.key, agent: oldest?.agent, call: oldest?.call },
        { key: second.key, agent: 'assistant', call: call('b1', { since: AT + 1 }) },
      );
      // A position stays valid when the call at it is answered.
      const page = await store.pendingCalls({ appName: 'app', limit: 4 });
      await wait(store, row);
      const after = page.at(-1)?.position ?? assert.fail();
      const rest = await store.pendingCalls({ appName: 'app', limit: 4, after });
      assert.deepEqual(
        rest.map((one) => one.call.callId),
        ['a9'],
      );
      assert.deepEqual(await store.pendingCalls({ appName: 'app', limit: 0 }), []);
      assert.deepEqual(await store.pendingCalls({ appName: 'other', limit: 9 }), []);
      for (const wrong of ['', 'x', '[1]', '["1",1,"c"]'])
        await assert.rejects(
          store.pendingCalls({ appName: 'app', limit: 1, after: wrong }),
          InvalidInputError,
        );
      await assert.rejects(store.pendingCalls({ appName: 'app', limit: -1 }), InvalidInputError);
    },
  ),

  storeContractCase('pending calls are filtered by user, agent, tool and need', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const ada = await createSession(store, 'one', 'a');
    const bob = await createSession(store, 'one', 'b', { userId: 'bob', agent: 'clerk' });
    await wait(store, ada, call('1'), call('2', { name: 'ask', needs: 'result' }));
    await wait(store, bob, call('3', { name: 'ask' }), call('4', { needs: 'result' }));
    assert.deepEqual(await listIds(store, { userId: 'bob' }), ['3', '4']);
    assert.deepEqual(await listIds(store, { agent: 'assistant' }), ['1', '2']);
    assert.deepEqual(await listIds(store, { tool: 'ask' }), ['2', '3']);
    assert.deepEqual(await listIds(store, { needs: 'result' }), ['2', '4']);
    assert.deepEqual(await listIds(store, { needs: 'result', tool: 'ask', agent: 'clerk' }), []);
  }),

  storeContractCase(
    'the listing of pending calls follows every step of a session',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      let row = await createSession(store, 'one');
      row = await wait(store, row, call('1'), call('2'));
      // Arguments too long for a row of the session.
      const long = call('3', { args: ['long '.repeat(4000)] });
      row = await wait(store, row, call('2'), long);
      assert.deepEqual(await listIds(store), ['2', '3']);
      const listed = await store.pendingCalls({ appName: 'app', limit: 9 });
      assert.deepEqual(
        listed.map((one) => one.call),
        [call('2'), long],
      );
      // The call waits for its result now, with progress.
      const asked = call('2', {
        needs: 'result',
        request: { done: 1 },
        since: AT + 1,
        expiresAt: AT + 9,
      });
      row = await wait(store, row, asked);
      assert.deepEqual(await listIds(store, { needs: 'approval' }), []);
      const progressed = { ...asked, request: { done: 2 } };
      row = await wait(store, row, progressed);
      const [current] = await store.pendingCalls({ appName: 'app', limit: 9 });
      assert.deepEqual(current?.call, progressed);
      // A refused step changes nothing.
      const stale = nextStep(row, undefined, { epoch: row.epoch + 1, records: [], events: [] });
      assert.deepEqual(await commitOne(store, stale), { ok: false, refused: 'stale' });
      assert.deepEqual(await listIds(store), ['2']);
      row = await wait(store, row);
      assert.deepEqual(await listIds(store), []);
      // Several steps in one commit: the last one counts.
      const before = nextStep(row, undefined, {
        records: [],
        events: [],
        summary: summary({ pending: [call('4')] }),
      });
      const after = {
        ...before,
        step: before.step + 1,
        summary: summary({ pending: [call('5')] }),
      };
      await commitOk(store, [before, after]);
      assert.deepEqual(await listIds(store), ['5']);
      assert.equal(await store.delete(row.key), true);
      assert.deepEqual(await listIds(store), []);
    },
  ),

  storeContractCase(
    'a call of a called agent is listed once, under its own session',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const caller = await createSession(store, 'one');
      const id = childSessionId(caller.key.sessionId, '00000000-0000-4000-8000-000000000000/7');
      const called = await createSession(store, 'one', id, { agent: 'clerk' });
      await wait(store, called, call('1'));
      await wait(store, caller, call('1', { session: id, path: ['clerk'], via: 'c' }), call('2'));
      const listed = await store.pendingCalls({ appName: 'app', limit: 9 });
      assert.deepEqual(
        new Set(listed.map((one) => `${one.key.sessionId} ${one.agent} ${one.call.callId}`)),
        new Set(['s assistant 2', `${id} clerk 1`]),
      );
      await store.delete(caller.key);
      assert.deepEqual(await listIds(store), []);
    },
  ),
];
