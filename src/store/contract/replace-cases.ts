import assert from 'node:assert/strict';
import { InvalidInputError } from '../../core/index.ts';
import type { SessionReplacement, SessionRow, Store } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  AT,
  commitOne,
  commitSampleSteps,
  createSession,
  EMPTY_JOURNAL,
  getExisting,
  nextStep,
  readContent,
  sessionKey,
} from './sample-steps.ts';

const KEY = sessionKey('s');
const INPUT = { place: 'session.input', value: 'again' };

export const replaceCases: readonly StoreContractCase[] = [
  storeContractCase(
    'a replaced session has another uid, an empty journal, and its new inputs only',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createFamily(store);
      const { cursor } = await store.changes({ appName: 'app', limit: 10 });
      const seen: string[] = [];
      store.subscribe((changed) => {
        if (changed !== 'any') seen.push(...changed.map(({ sessionId }) => sessionId));
      });
      assert.equal(await store.replace(KEY, replacement(row, 1)), true);
      assert.ok(seen.includes('s'));
      const after = await getExisting(store, KEY);
      assert.notEqual(after.uid, row.uid);
      const { head, lastSeq, epoch, owner, createdAt, netHash, inboxPending } = after;
      assert.deepEqual(
        { head, lastSeq, epoch, owner, createdAt, netHash, inboxPending },
        {
          head: 0,
          lastSeq: 0,
          epoch: 1,
          owner: 'one',
          createdAt: row.createdAt,
          netHash: 'net-2',
          inboxPending: true,
        },
      );
      for await (const { step } of store.steps(KEY, 0)) assert.fail(`step ${step} is there`);
      assert.equal(await store.snapshot(KEY), undefined);
      assert.equal(await store.findInput(KEY, 'late'), undefined);
      const inbox = await store.inbox(KEY, 0);
      assert.deepEqual(
        inbox.map(({ inputSeq, key, input }) => [inputSeq, key, input.value]),
        [
          [1, 'state', 'again'],
          [2, 'more', 'again'],
        ],
      );
      assert.deepEqual(
        (await store.list({})).map(({ key }) => key.sessionId),
        ['s'],
        'the session of the called agent is gone',
      );
      const { changes } = await store.changes({ appName: 'app', after: cursor, limit: 10 });
      const change = changes.find(({ key }) => key.sessionId === 's');
      assert.equal(change?.type, 'created');
      assert.deepEqual(await commitOne(store, nextStep(after, EMPTY_JOURNAL, { inboxUpTo: 2 })), {
        ok: true,
      });
    },
  ),

  storeContractCase(
    'a session that changed is not replaced, and a replaced one refuses the steps of its owner',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createFamily(store);
      const before = await readContent(store, KEY);
      for (const expected of [
        { uid: row.uid, head: row.head, unread: 0 },
        { uid: row.uid, head: row.head - 1, unread: 1 },
        { uid: `not-${row.uid}`, head: row.head, unread: 1 },
      ])
        assert.equal(await store.replace(KEY, { ...replacement(row, 1), expected }), false);
      assert.deepEqual(await readContent(store, KEY), before);
      assert.equal(await store.replace(sessionKey('none'), replacement(row, 1)), false);
      assert.equal(await store.find(sessionKey('none')), undefined);
      assert.equal(await store.replace(KEY, replacement(row, 1)), true);
      assert.deepEqual(await commitOne(store, nextStep(row, AFTER)), {
        ok: false,
        refused: 'stale',
      });
      assert.equal(await store.replace(KEY, replacement(row, 1)), false);
    },
  ),

  storeContractCase('an owner that has not joined cannot replace', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createFamily(store);
    const { init, ...rest } = replacement(row, 1);
    await assert.rejects(
      store.replace(KEY, { ...rest, init: { ...init, owner: 'absent' } }),
      InvalidInputError,
    );
    assert.equal((await getExisting(store, KEY)).uid, row.uid);
  }),

  storeContractCase(
    'of two replacements and an input at the same time, nothing is lost',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      for (let round = 0; round < 6; round++) {
        const row = await createFamily(one);
        const { init, ...rest } = replacement(row, 1);
        const [first, second, injected] = await Promise.all([
          one.replace(KEY, { ...rest, init }),
          two.replace(KEY, { ...rest, init: { ...init, owner: 'two' } }),
          round % 2 === 0 ? undefined : two.inject(KEY, INPUT, 'in time'),
        ]);
        assert.ok(!(first && second), 'one of them at most');
        assert.ok(injected !== undefined || first || second);
        const keys = (await one.inbox(KEY, 0)).map(({ key }) => key);
        assert.equal(keys.includes('state'), first || second);
        assert.equal(keys.includes('in time'), injected !== undefined);
        await one.delete(KEY);
      }
    },
  ),
];

/** What the two steps of each session have. */
const AFTER = { records: 4, events: 4 };

function replacement({ uid, head, createdAt: at }: SessionRow, unread: number): SessionReplacement {
  return {
    expected: { uid, head, unread },
    init: { agent: 'assistant', owner: 'one', at, netHash: 'net-2' },
    inputs: [
      { input: INPUT, dedupeKey: 'state' },
      { input: INPUT, dedupeKey: 'more' },
    ],
  };
}

/** Creates a session with two steps and an unread input, and the session of an agent that it called. */
async function createFamily(store: Store): Promise<SessionRow> {
  const created = await createSession(store, 'one', 's', { at: AT });
  await commitSampleSteps(store, created, 2);
  await store.inject(KEY, INPUT, 'late');
  await createSession(store, 'one', `s/${created.uid}/7`);
  return getExisting(store, KEY);
}
