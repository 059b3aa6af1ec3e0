import assert from 'node:assert/strict';
import { NotSerializableError } from '../../core/index.ts';
import { answerKey } from '../rules/dedupe-key.ts';
import { AlreadyAnsweredError, SessionNotFoundError } from '../store-errors.ts';
import type { InboxInput, StoreListener } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import { commitOk, createSession, getExisting, nextStep, sessionKey } from './sample-steps.ts';

export const inboxCases: readonly StoreContractCase[] = [
  storeContractCase('inputs wait in order until a step consumes them', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    assert.deepEqual(await store.inject(row.key, input('a'), 'k1'), {
      inputSeq: 1,
      duplicate: false,
    });
    assert.deepEqual(await store.inject(row.key, input('b'), 'k2'), {
      inputSeq: 2,
      duplicate: false,
    });
    assert.deepEqual(await store.inject(row.key, input('c'), 'k3'), {
      inputSeq: 3,
      duplicate: false,
    });
    const rows = [
      { inputSeq: 1, input: input('a'), key: 'k1' },
      { inputSeq: 2, input: input('b'), key: 'k2' },
      { inputSeq: 3, input: input('c'), key: 'k3' },
    ];
    assert.deepEqual(await store.inbox(row.key, 0), rows);
    assert.deepEqual(await store.inbox(row.key, 2), rows.slice(2));
    assert.equal((await getExisting(store, row.key)).inboxPending, true);

    await commitOk(store, [nextStep(row, undefined, { inboxUpTo: 2 })]);
    assert.deepEqual(await store.inbox(row.key, 0), rows.slice(2));
    const after = await getExisting(store, row.key);
    assert.equal(after.inboxPending, true);
    await commitOk(store, [nextStep(after, { records: 2, events: 2 }, { inboxUpTo: 3 })]);
    assert.deepEqual(await store.inbox(row.key, 0), []);
    assert.equal((await getExisting(store, row.key)).inboxPending, false);
    assert.deepEqual(await store.inject(row.key, input('d'), 'k4'), {
      inputSeq: 4,
      duplicate: false,
    });
  }),

  storeContractCase(
    'an input with a used dedupe key adds nothing, whether the first was read or not',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      const other = await createSession(store, 'one', 'other');
      await store.inject(row.key, input('a'), 'k1');
      assert.deepEqual(await store.inject(row.key, input('b'), 'k1'), {
        inputSeq: 1,
        duplicate: true,
      });
      assert.equal((await store.inbox(row.key, 0)).length, 1);
      assert.equal(await store.findInput(row.key, 'k1'), 1);
      await commitOk(store, [nextStep(row, undefined, { inboxUpTo: 1 })]);
      assert.equal(await store.findInput(row.key, 'k1'), 1);
      assert.equal(await store.findInput(row.key, 'k2'), undefined);
      assert.equal(await store.findInput(other.key, 'k1'), undefined);
      assert.deepEqual(await store.inject(row.key, input('c'), 'k1'), {
        inputSeq: 1,
        duplicate: true,
      });
      assert.deepEqual(await store.inbox(row.key, 0), []);
      assert.deepEqual(await store.inject(other.key, input('a'), 'k1'), {
        inputSeq: 1,
        duplicate: false,
      });
    },
  ),

  storeContractCase(
    'a call is answered once: the second answer is refused and names the first',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      await store.inject(row.key, input('hello'), 'k1');
      await store.inject(row.key, input('yes'), answerKey('call_1'));
      const refused = (error: unknown): boolean => {
        assert.ok(error instanceof AlreadyAnsweredError, String(error));
        assert.deepEqual(
          [error.code, error.callId, error.inputSeq],
          ['already_answered', 'call_1', 2],
        );
        return true;
      };
      await assert.rejects(store.inject(row.key, input('no'), answerKey('call_1')), refused);
      await commitOk(store, [nextStep(row, undefined, { inboxUpTo: 2 })]);
      await assert.rejects(store.inject(row.key, input('no'), answerKey('call_1')), refused);
      assert.equal((await store.inject(row.key, input('no'), answerKey('call_2'))).inputSeq, 3);
    },
  ),

  storeContractCase(
    'when two processes answer each call concurrently, one answer counts each time',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      const row = await createSession(one, 'one');
      const calls = Array.from({ length: 50 }, (_, index) => `call_${index}`);
      const answers = calls.flatMap((call) =>
        [one, two].map((store) => store.inject(row.key, input(call), answerKey(call))),
      );
      const results = await Promise.allSettled(answers);
      for (const [index, call] of calls.entries()) {
        const pair = results.slice(index * 2, index * 2 + 2);
        assert.deepEqual(
          pair.map(({ status }) => status).toSorted(),
          ['fulfilled', 'rejected'],
          call,
        );
        const lost = pair.find(({ status }) => status === 'rejected');
        assert.ok(lost?.status === 'rejected');
        assert.ok(lost.reason instanceof AlreadyAnsweredError, String(lost.reason));
      }
      const rows = await one.inbox(row.key, 0);
      assert.deepEqual(
        rows.map(({ inputSeq }) => inputSeq),
        calls.map((_, index) => index + 1),
      );
      assert.equal(new Set(rows.map(({ key }) => key)).size, 50);
    },
  ),

  storeContractCase('an input reaches a session while its owner commits', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    const row = await createSession(one, 'one');
    const [, receipt] = await Promise.all([
      one.commit([nextStep(row)]),
      two.inject(row.key, input('from elsewhere'), 'k1'),
    ]);
    assert.deepEqual(receipt, { inputSeq: 1, duplicate: false });
    assert.deepEqual((await getExisting(one, row.key)).head, 1);
    // A step that does not consume the input leaves it in the inbox.
    assert.equal((await one.inbox(row.key, 0)).length, 1);
  }),

  storeContractCase('an input that is not JSON, or for no session, is refused', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const { key } = await createSession(store, 'one');
    const broken: InboxInput = { place: 'session.input', value: Number.NaN };
    await assert.rejects(store.inject(key, broken, 'k1'), NotSerializableError);
    assert.deepEqual(await store.inbox(key, 0), []);
    await assert.rejects(store.inject(sessionKey('none'), input('a'), 'k1'), (error) => {
      return error instanceof SessionNotFoundError && !error.deleted;
    });
  }),

  storeContractCase('a later change by the sender does not change the input', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const { key } = await createSession(store, 'one');
    const value = { text: 'before' };
    const injected = store.inject(key, { place: 'session.input', value }, 'k1');
    value.text = 'after';
    await injected;
    assert.deepEqual((await store.inbox(key, 0))[0]?.input.value, { text: 'before' });
  }),

  storeContractCase(
    'listeners get the sessions that changed here, before the call returns',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const [a, b] = [
        await createSession(store, 'one', 'a'),
        await createSession(store, 'one', 'b'),
      ];
      const received: string[] = [];
      const listener: StoreListener = (changed) => {
        received.push(changed === 'any' ? 'any' : changed.map(({ sessionId }) => sessionId).join());
      };
      const unsubscribe = store.subscribe(listener);
      await store.commit([nextStep(a), nextStep({ ...b, epoch: 9 })]);
      await store.commit([nextStep({ ...b, epoch: 9 })]);
      await store.inject(b.key, input('x'), 'k1');
      await store.inject(b.key, input('x'), 'k1');
      await store.delete(b.key);
      assert.deepEqual(received, ['a', 'b', 'b']);
      unsubscribe();
      await store.inject(a.key, input('x'), 'k1');
      assert.equal(received.length, 3);
    },
  ),

  storeContractCase('listeners are notified of changes elsewhere', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    const { key } = await createSession(one, 'one');
    const received = Promise.withResolvers<void>();
    const unsubscribe = two.subscribe(() => received.resolve());
    await one.inject(key, input('x'), 'k1');
    // A subscription does not keep the process alive, so the test does.
    const alive = setInterval(() => undefined, 1000);
    await received.promise;
    clearInterval(alive);
    unsubscribe();
  }),
];

function input(value: string): InboxInput {
  return { place: 'session.input', value };
}
