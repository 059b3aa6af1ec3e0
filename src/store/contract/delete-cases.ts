import assert from 'node:assert/strict';
import { InvalidInputError } from '../../core/index.ts';
import { SessionNotFoundError } from '../store-errors.ts';
import type { DeleteCondition, Store } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  commitOne,
  commitSampleSteps,
  createSession,
  getExisting,
  nextStep,
  readContent,
  sessionKey,
} from './sample-steps.ts';

const KEY = sessionKey('s');
const INPUT = { place: 'session.input', value: 'hello' };

export const deleteCases: readonly StoreContractCase[] = [
  storeContractCase(
    'a session that did not change is deleted, and the documents are written with it',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      await store.writeDocuments([{ kind: 'session', id: 's', version: 0, value: 'shown' }]);
      const { condition } = await createFamily(store);
      const documents = [
        { kind: 'session', id: 's', version: 1 },
        { kind: 'archive', id: 's', version: 0, value: { file: 's.jsonl' } },
      ];
      assert.equal(await store.delete(KEY, { ...condition, documents }), true);
      assert.deepEqual(await store.list({}), []);
      assert.equal(await store.document('session', 's'), undefined);
      assert.deepEqual((await store.document('archive', 's'))?.value, { file: 's.jsonl' });
      assert.equal(await store.delete(KEY, condition), false);
    },
  ),

  storeContractCase(
    'a session that changed is not deleted, and nothing is written',
    async (harness) => {
      const changes: readonly ((store: Store, family: Family) => Promise<DeleteCondition>)[] = [
        async (store, { condition }) => {
          await store.inject(KEY, INPUT, 'late');
          return condition;
        },
        async (store, { condition, child }) => {
          await store.inject(child, INPUT, 'late');
          return condition;
        },
        async (store, { condition }) => {
          assert.deepEqual(await commitOne(store, nextStep(await getExisting(store, KEY), AFTER)), {
            ok: true,
          });
          return condition;
        },
        async (store, { condition, child }) => {
          await commitSampleSteps(store, await getExisting(store, child), 1, AFTER);
          return condition;
        },
        async (store, { condition }) => {
          const { uid } = await getExisting(store, KEY);
          await createSession(store, 'one', `s/${uid}/99`);
          return condition;
        },
        async (_store, { condition }) => ({ sessions: condition.sessions.slice(0, 1) }),
        async (_store, { condition }) => ({
          sessions: [...condition.sessions, { uid: 'deleted-in-the-meantime', head: 2 }],
        }),
        async (_store, { condition }) => ({
          sessions: condition.sessions.map((one) => ({ ...one, uid: `not-${one.uid}` })),
        }),
        async (_store, { condition }) => ({
          ...condition,
          documents: [
            { kind: 'archive', id: 's', version: 0, value: 1 },
            { kind: 'session', id: 's', version: 3, value: 1 },
          ],
        }),
      ];
      const store = await harness.open();
      await store.join('one');
      for (const [index, change] of changes.entries()) {
        const family = await createFamily(store);
        const condition = await change(store, family);
        const before = await readFamily(store);
        const documents = condition.documents ?? [
          { kind: 'archive', id: 's', version: 0, value: 1 },
        ];
        assert.equal(
          await store.delete(KEY, { ...condition, documents }),
          false,
          `change ${index}`,
        );
        assert.deepEqual(await readFamily(store), before);
        assert.equal(await store.document('archive', 's'), undefined);
        assert.equal(await store.document('session', 's'), undefined);
        assert.equal(await store.delete(KEY), true);
      }
    },
  ),

  storeContractCase('a condition without sessions is refused', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    await createFamily(store);
    await assert.rejects(
      store.delete(KEY, { sessions: [] }),
      (error: unknown) => error instanceof InvalidInputError && error.field === 'sessions',
    );
    assert.notEqual(await store.find(KEY), undefined);
  }),

  storeContractCase(
    'an input or a step that races with a conditional deletion is refused, or the session stays',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      for (let round = 0; round < 8; round++) {
        const { condition } = await createFamily(one);
        const row = await getExisting(one, KEY);
        const changing =
          round % 2 === 0
            ? two.inject(KEY, INPUT, 'late').then(
                () => true,
                (error: unknown) => {
                  assert.ok(error instanceof SessionNotFoundError && error.deleted);
                  return false;
                },
              )
            : commitOne(one, nextStep(row, AFTER)).then((result) => result?.ok === true);
        const [deleted, changed] = await Promise.all([
          (round % 4 < 2 ? two : one).delete(KEY, condition),
          changing,
        ]);
        assert.notEqual(deleted, changed);
        assert.equal((await one.find(KEY)) === undefined, deleted);
        await one.delete(KEY);
      }
    },
  ),

  storeContractCase('of two equal conditional deletions, one deletes', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    for (let round = 0; round < 4; round++) {
      const { condition } = await createFamily(one);
      const documents = [{ kind: 'archive', id: `s-${round}`, version: 0, value: round }];
      const deleted = await Promise.all(
        [one, two, one, two].map(async (store) => store.delete(KEY, { ...condition, documents })),
      );
      assert.deepEqual(deleted.filter(Boolean), [true]);
      assert.equal((await one.document('archive', `s-${round}`))?.version, 1);
    }
  }),
];

/** What the two steps of each session have. */
const AFTER = { records: 4, events: 4 };

interface Family {
  readonly child: ReturnType<typeof sessionKey>;
  readonly condition: DeleteCondition;
}

/** Creates a session and that of an agent that it called, each with two steps. */
async function createFamily(store: Store): Promise<Family> {
  const created = await createSession(store, 'one', 's');
  const { row } = await commitSampleSteps(store, created, 2);
  const child = sessionKey(`s/${row.uid}/7`);
  const called = await commitSampleSteps(
    store,
    await createSession(store, 'one', child.sessionId),
    2,
  );
  const sessions = [row, called.row].map(({ uid, head }) => ({ uid, head }));
  return { child, condition: { sessions } };
}

async function readFamily(store: Store): Promise<unknown> {
  const rows = await store.list({});
  return Promise.all(rows.map(async ({ key }) => readContent(store, key)));
}
