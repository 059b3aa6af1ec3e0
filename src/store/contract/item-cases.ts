import assert from 'node:assert/strict';
import type { SessionKey } from '../../core/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { SessionExistsError, SessionNotFoundError, StoreNotEmptyError } from '../store-errors.ts';
import type { StoreItem } from '../store-item.ts';
import type { SessionRow, Store } from '../store.ts';
import { storeContractCase, type StoreContractCase, type StoreHarness } from './contract-case.ts';
import {
  AT,
  collect,
  commitOk,
  commitSampleSteps,
  createSession,
  fired,
  getExisting,
  nextStep,
  readContent,
  sessionKey,
  summary,
  turnStarted,
} from './sample-steps.ts';

const LONG = 'long '.repeat(2500);
const CHILD = 's/11111111-1111-1111-1111-111111111111/0';

/** Requirements about exports and imports of what a store holds. */
export const itemCases: readonly StoreContractCase[] = [
  betweenStores('an export of a store, imported into an empty one, is the same store', {
    check: async (store, other) => {
      const keys = await fill(store);
      const items = await collect(store.exportItems());
      const imported = await other.importItems(toIterable(items), { isWholeStore: true });
      assert.deepEqual(imported.map(toText).toSorted(), keys.map(toText).toSorted());

      assert.deepEqual(sorted(await collect(other.exportItems())), sorted(items));
      for (const key of keys) {
        assert.deepEqual(await readUnowned(other, key), await readUnowned(store, key));
        assert.equal((await getExisting(other, key)).owner, null);
      }
      const query = { appName: 'app', limit: 10 };
      assert.deepEqual(
        (await other.pendingCalls(query)).map(({ call }) => call),
        (await store.pendingCalls(query)).map(({ call }) => call),
      );
      const usage = { appName: 'app', by: ['user', 'model'] } as const;
      assert.deepEqual(await other.usage(usage), await store.usage(usage));
      const runnable = { owner: 'two', limit: 10 };
      const isDueFound = async (now: number): Promise<boolean> =>
        (await other.findRunnable({ ...runnable, now })).sessions.some(
          ({ key }) => key.sessionId === 'due',
        );
      assert.deepEqual([await isDueFound(AT + 6), await isDueFound(AT + 7)], [false, true]);
      // What was imported continues: no input counts twice, and a step follows the last one.
      await other.join('two');
      const again = await other.inject(toKey('s'), { place: 'in', value: 1 }, 'read');
      assert.deepEqual(again, { inputSeq: 1, duplicate: true });
      const claimed = await other.claim(toKey('s'), 'two');
      assert.ok(claimed.ok && claimed.recovered);
      const records = 81;
      await commitOk(other, [nextStep(claimed.row, { records, events: 81 }, { inboxUpTo: 2 })]);
      assert.deepEqual(await other.inbox(toKey('s'), 0), []);
      await assert.rejects(other.steps(toKey('gone'), 0)[Symbol.asyncIterator]().next(), (error) =>
        error instanceof SessionNotFoundError ? error.deleted : false,
      );
    },
  }),

  betweenStores('a session is not imported with the uid of another, deleted or not', {
    check: async (store, other) => {
      await fill(store);
      const items = await collect(store.exportItems({ session: toKey('s') }));
      await other.join('one');
      const { uid } = await createSession(other, 'one', 'here');
      const forged = items.map((item) => (item.type === 'session' ? { ...item, uid } : item));
      const refusal = { name: 'InvalidInputError', message: /uid of another session/ };
      await assert.rejects(other.importItems(toIterable(forged)), refusal);
      await other.delete(sessionKey('here'));
      await assert.rejects(other.importItems(toIterable(forged)), refusal);
      await assert.rejects(getExisting(other, toKey('s')));
      await other.importItems(toIterable(items));
      // A session that was deleted comes back with its own uid.
      await other.delete(toKey('s'));
      await other.importItems(toIterable(items));
    },
  }),

  betweenStores('an export of a session has the sessions of its called agents, and no other', {
    check: async (store, other) => {
      await fill(store);
      const items = await collect(store.exportItems({ session: toKey('s') }));
      const keys = await other.importItems(toIterable(items));
      assert.deepEqual(keys, [toKey('s'), toKey(CHILD)]);
      assert.deepEqual(await collect(other.exportItems({ session: toKey('s') })), items);
      assert.deepEqual(
        (await other.list({})).map(({ key }) => key.sessionId).toSorted(),
        ['s', CHILD].toSorted(),
      );
      // A second import is refused, and so is the import of a store into one that is not empty.
      await assert.rejects(other.importItems(toIterable(items)), SessionExistsError);
      const none = toIterable([]);
      await assert.rejects(other.importItems(none, { isWholeStore: true }), StoreNotEmptyError);
      await assert.rejects(
        collect(store.exportItems({ session: toKey('absent') })),
        SessionNotFoundError,
      );
    },
  }),

  storeContractCase('a session that was deleted can be imported again', async (harness) => {
    const store = await harness.open();
    await fill(store);
    const items = await collect(store.exportItems({ session: toKey('s') }));
    const { cursor } = await store.changes({ appName: 'app', limit: 100 });
    assert.equal(await store.delete(toKey('s')), true);
    assert.deepEqual(await store.importItems(toIterable(items)), [toKey('s'), toKey(CHILD)]);
    assert.deepEqual(await collect(store.exportItems({ session: toKey('s') })), items);
    const all = await collect(store.exportItems());
    const buried = all.flatMap((item) => (item.type === 'tombstone' ? [item.key.sessionId] : []));
    assert.deepEqual(buried, ['gone']);
    const { changes } = await store.changes({ appName: 'app', after: cursor, limit: 100 });
    const types = changes.map(({ type, key }) => [type, key.sessionId].join(' ')).toSorted();
    assert.deepEqual(types, [`created ${CHILD}`, 'created s'].toSorted());
  }),

  betweenStores('an import that fails writes nothing', {
    check: async (store, other) => {
      await fill(store);
      const items = await collect(store.exportItems());
      const last = items.findLastIndex(({ type }) => type === 'step');
      const cut = items.filter((_, index) => index !== last);
      await assert.rejects(other.importItems(toIterable(cut)), InvalidInputError);
      const broken = new Error('the file cannot be read');
      await assert.rejects(
        other.importItems(toIterable(items, broken)),
        (error) => error instanceof Error && [error, error.cause].includes(broken),
      );
      assert.deepEqual(await collect(other.exportItems()), []);
    },
  }),

  storeContractCase('an export is of one moment, and does not block writers', async (harness) => {
    const store = await harness.open();
    const keys = await fill(store);
    const before = await collect(store.exportItems());
    const items: StoreItem[] = [];
    for await (const item of store.exportItems()) {
      if (items.length === 0) {
        await store.inject(toKey('s'), { place: 'in', value: 3 }, 'later');
        await store.delete(toKey('old'));
        await createSession(store, 'one', 'new');
      }
      items.push(item);
    }
    assert.deepEqual(items, before);
    assert.equal((await store.list({ parent: null })).length, keys.length - 1);
  }),
];

/** A case with two stores that share nothing. */
function betweenStores(
  name: string,
  { check }: { readonly check: (store: Store, other: Store) => Promise<void> },
): StoreContractCase {
  const run = async (makeHarness: () => Promise<StoreHarness>): Promise<void> => {
    const other = await makeHarness();
    try {
      const target = await other.open();
      await storeContractCase(name, async (harness) => check(await harness.open(), target)).check(
        makeHarness,
      );
    } finally {
      await other.close();
    }
  };
  return { name, check: run };
}

/** Writes some of everything. Returns the keys of the sessions. */
async function fill(store: Store): Promise<readonly SessionKey[]> {
  await store.join('one');
  const { row, cursor } = await commitSampleSteps(store, await createSession(store, 'one'), 40);
  await store.inject(row.key, { place: 'in', value: 1 }, 'read');
  await store.inject(row.key, { place: 'in', value: { text: LONG } }, 'unread');
  const pending = [
    {
      callId: 'c',
      name: 'rm',
      args: { path: LONG },
      needs: 'approval',
      invocationId: 'e-1',
      fingerprint: 'f',
      since: AT,
    },
  ] as const;
  const at = AT + 100;
  await commitOk(store, [
    nextStep(row, cursor, {
      at,
      records: [fired(cursor.records + 1, at, true)],
      events: [turnStarted(cursor.events + 1, at, LONG)],
      inboxUpTo: 1,
      snapshot: { tokens: [LONG] },
      summary: summary({ inFlight: 1, nextDueAt: AT + 5000, pending }),
      shared: {
        reads: {},
        writes: { place: 'state', set: { 'app:theme': 'dark', 'user:name': LONG, 'user:old': 1 } },
      },
      usage: [
        {
          day: '2026-01-02',
          model: 'm',
          calls: 2,
          tokens: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
        },
      ],
    }),
  ]);
  const child = await createSession(store, 'one', CHILD);
  await commitSampleSteps(store, child, 1);
  const old = await createSession(store, 'one', 'old', { userId: 'ada', at: AT - 5 });
  const deletes = { place: 'state', delete: ['user:old'] };
  await commitOk(store, [nextStep(old, undefined, { shared: { reads: {}, writes: deletes } })]);
  for (let failed = 0; failed < 3; failed++) await store.recordHydration(old.key, false);
  const empty = await createSession(store, 'one', 'empty');
  await store.inject(empty.key, { place: 'in', value: null }, 'first');
  const due = await createSession(store, 'one', 'due', { nextDueAt: AT + 7 });
  const gone = await createSession(store, 'one', 'gone');
  await store.delete(gone.key);
  await store.writeDocuments([
    { kind: 'b', id: '1', version: 0, value: { text: LONG } },
    { kind: 'a', id: '2', version: 0, value: 2 },
  ]);
  await store.writeDocuments([{ kind: 'a', id: '2', version: 1, value: 3 }]);
  return [row, child, old, empty, due].map(({ key }) => key);
}

function toKey(sessionId: string): SessionKey {
  return sessionKey(sessionId);
}

function toText(value: unknown): string {
  return JSON.stringify(value);
}

/** Stores list documents and shared state in orders of their own. */
function sorted(items: readonly StoreItem[]): readonly string[] {
  return items.map(toText).toSorted();
}

/** Everything of a session but its owner. */
async function readUnowned(store: Store, key: SessionKey): Promise<unknown> {
  const { owner: _owner, epoch: _epoch, ...row }: SessionRow = await getExisting(store, key);
  const content = await readContent(store, key);
  return typeof content === 'object' && { ...content, row };
}

/** @param error thrown after the items */
function toIterable(items: readonly StoreItem[], error?: Error): AsyncIterable<StoreItem> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* items;
      if (error !== undefined) throw error;
    },
  };
}
