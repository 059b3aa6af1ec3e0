import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { InvalidInputError } from '../../core/index.ts';
import type { SessionRowChange, Store } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  commitOk,
  commitSampleSteps,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
} from './sample-steps.ts';

/** How often a page is read again. A store may show a change only when earlier transactions
 * have ended, also those of other tests. */
const MAX_READS = 200_000;

interface Follower {
  readonly cursor: () => string;
  /** Reads pages until one has changes. */
  readonly next: (limit?: number) => Promise<readonly SessionRowChange[]>;
}

async function follow(store: Store, from?: string): Promise<Follower> {
  let cursor = from ?? (await store.changes({ appName: 'app', limit: 1 })).cursor;
  return {
    cursor: () => cursor,
    next: async (limit = 100) => {
      for (let read = 0; read < MAX_READS; read++) {
        const page = await store.changes({ appName: 'app', after: cursor, limit });
        ({ cursor } = page);
        if (page.changes.length > 0) return page.changes;
        await setTimeout(5);
      }
      return assert.fail('there was no change');
    },
  };
}

function withoutCursor(change: SessionRowChange | undefined): unknown {
  if (change === undefined) return undefined;
  const { cursor: _, ...rest } = change;
  return rest;
}

/** Reads until these sessions were seen, and returns the last change of each. */
async function readUntil(
  follower: Follower,
  expected: readonly string[],
): Promise<ReadonlyMap<string, SessionRowChange>> {
  const seen = new Map<string, SessionRowChange>();
  while (!expected.every((id) => seen.has(id)))
    for (const change of await follower.next(1)) seen.set(change.key.sessionId, change);
  return seen;
}

export const changeCases: readonly StoreContractCase[] = [
  storeContractCase(
    'session changes are read in order: created, changed, deleted',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      await createSession(store, 'one', 'earlier');
      const follower = await follow(store);
      const row = await createSession(store, 'one');
      const created = await readUntil(follower, ['s']);
      assert.deepEqual(withoutCursor(created.get('s')), { type: 'created', key: row.key, row });
      const after = follower.cursor();
      const committed = await commitSampleSteps(store, row, 3);
      const changed = await readUntil(follower, ['s']);
      const last = changed.get('s') ?? assert.fail();
      assert.ok(last.type === 'changed');
      assert.equal(last.row.lastSeq, 6);
      assert.deepEqual(last.row, committed.row);
      await store.delete(row.key);
      const deleted = await readUntil(follower, ['s']);
      assert.deepEqual(withoutCursor(deleted.get('s')), {
        type: 'deleted',
        key: row.key,
        uid: row.uid,
      });
      // Another reader that continues from an earlier position gets the last change of the session, once.
      const late = await follow(store, after);
      assert.deepEqual((await late.next()).map(withoutCursor), [
        { type: 'deleted', key: row.key, uid: row.uid },
      ]);
      // A session that is created again is another one.
      const again = await createSession(store, 'one');
      const recreated = await readUntil(follower, ['s']);
      assert.deepEqual(withoutCursor(recreated.get('s')), {
        type: 'created',
        key: row.key,
        row: again,
      });
    },
  ),

  storeContractCase(
    'pages of session changes lose none while other sessions change',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const follower = await follow(store);
      const ids = Array.from({ length: 12 }, (_, index) => `s${index}`);
      const rows = await Promise.all(ids.map(async (id) => createSession(store, 'one', id)));
      const seen = new Map<string, number>();
      let cursor = follower.cursor();
      const take = (changes: readonly SessionRowChange[]): void => {
        for (const change of changes)
          if (change.type !== 'deleted') seen.set(change.key.sessionId, change.row.head);
      };
      // Commit in several calls at once, and read between them.
      for (let step = 1; step <= 3; step++) {
        const current = await Promise.all(rows.map(async ({ key }) => getExisting(store, key)));
        const commits = current.map(async (row) =>
          commitOk(store, [nextStep(row, { records: 0, events: 0 }, { records: [], events: [] })]),
        );
        const page = await store.changes({ appName: 'app', after: cursor, limit: 5 });
        ({ cursor } = page);
        take(page.changes);
        await Promise.all(commits);
      }
      for (let read = 0; read < MAX_READS && ids.some((id) => seen.get(id) !== 3); read++) {
        const page = await store.changes({ appName: 'app', after: cursor, limit: 5 });
        ({ cursor } = page);
        take(page.changes);
        if (page.isLast) await setTimeout(5);
      }
      assert.deepEqual(
        ids.map((id) => seen.get(id)),
        ids.map(() => 3),
      );
    },
  ),

  storeContractCase('a session that is touched is a change, with the same row', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    const follower = await follow(store);
    await store.touch(row.key);
    await store.touch(sessionKey('none'));
    const seen = await readUntil(follower, ['s']);
    const change = seen.get('s') ?? assert.fail();
    assert.ok(change.type !== 'deleted');
    assert.deepEqual(change.row, row);
  }),

  storeContractCase('a quarantined session is a change', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    const follower = await follow(store);
    for (let failure = 0; failure < 3; failure++) await store.recordHydration(row.key, false);
    for (;;) {
      const [change] = await follower.next();
      assert.ok(change?.type === 'changed' || change?.type === 'created');
      if (change.row.status === 'quarantined') break;
    }
  }),

  storeContractCase(
    'session changes of another app and unknown positions are not read',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { cursor } = await store.changes({ appName: 'other', limit: 1 });
      await createSession(store, 'one');
      const page = await store.changes({ appName: 'other', after: cursor, limit: 1 });
      assert.deepEqual([page.changes, page.isLast], [[], true]);
      for (const after of ['', 'x', '-1', '999999999999999', '1.2.3', '999999999999999.1'])
        await assert.rejects(
          store.changes({ appName: 'app', after, limit: 1 }),
          InvalidInputError,
          after,
        );
      await assert.rejects(store.changes({ appName: 'app', limit: 0 }), InvalidInputError);
    },
  ),

  storeContractCase(
    'a position of session changes is valid for other processes and after a restart',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { cursor } = await store.changes({ appName: 'app', limit: 1 });
      await createSession(store, 'one');
      const other = await harness.open();
      const seen = await readUntil(await follow(other, cursor), ['s']);
      assert.equal(seen.get('s')?.type, 'created');
      await store.close();
      const reopened = await harness.open();
      await readUntil(await follow(reopened, cursor), ['s']);
      await reopened.delete(sessionKey('s'));
      const after = await follow(reopened, cursor);
      const [change] = await after.next();
      assert.equal(change?.type, 'deleted');
    },
    { durability: 'crash' },
  ),
];
