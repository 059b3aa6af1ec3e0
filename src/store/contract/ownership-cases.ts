import assert from 'node:assert/strict';
import { SessionNotFoundError } from '../store-errors.ts';
import { toRunnablePosition } from '../rules/runnable-position.ts';
import type {
  RunnablePage,
  RunnablePosition,
  SessionRow,
  SessionSelection,
  Store,
} from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  AT,
  commitOk,
  commitOne,
  readContent,
  createSession,
  getExisting,
  NET_HASH,
  nextStep,
  sessionKey,
  summary,
} from './sample-steps.ts';

export const ownershipCases: readonly StoreContractCase[] = [
  storeContractCase('any owner can claim an idle session, with the next epoch', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    await two.join('two');
    const row = await createSession(one, 'one');
    const claimed = await two.claim(row.key, 'two');
    assert.deepEqual(claimed, {
      ok: true,
      recovered: false,
      row: { ...row, owner: 'two', epoch: 2 },
    });
    assert.deepEqual(await getExisting(one, row.key), { ...row, owner: 'two', epoch: 2 });
    const again = await two.claim(row.key, 'two');
    assert.deepEqual(again, claimed);
    await assert.rejects(two.claim(sessionKey('none'), 'two'), SessionNotFoundError);
  }),

  storeContractCase(
    'a claim that expects another step or another session changes nothing, and returns the row',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      const found = await createSession(one, 'one');
      await commitOk(one, [nextStep(found)]);
      const row = await getExisting(two, found.key);
      const refused = { ok: false, changed: row };
      assert.deepEqual(await two.claim(row.key, 'two', found), refused);
      assert.deepEqual(await two.claim(row.key, 'two', { ...row, uid: 'other' }), refused);
      // The owner too may have read an older step.
      assert.deepEqual(await one.claim(row.key, 'one', found), refused);
      assert.deepEqual(await getExisting(one, row.key), row);
      const claimed = await two.claim(row.key, 'two', row);
      assert.deepEqual(claimed, {
        ok: true,
        recovered: false,
        row: { ...row, owner: 'two', epoch: row.epoch + 1 },
      });
    },
  ),

  storeContractCase(
    'of a commit and a claim that expects the step before it, one is refused',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      for (let n = 0; n < 20; n++) {
        const row = await createSession(one, 'one', `s${n}`);
        const committed = (): Promise<unknown> => one.commit([nextStep(row)]);
        const [results, claim] =
          n % 2 === 0
            ? await Promise.all([committed(), two.claim(row.key, 'two', row)])
            : await Promise.all([two.claim(row.key, 'two', row), committed()]).then(
                ([second, first]) => [first, second] as const,
              );
        const after = await getExisting(one, row.key);
        if (claim.ok) {
          assert.deepEqual(results, [{ ok: false, refused: 'stale' }]);
          assert.deepEqual([after.owner, after.head], ['two', 0]);
        } else {
          assert.deepEqual(results, [{ ok: true }]);
          assert.deepEqual([after.owner, after.head], ['one', 1]);
        }
      }
    },
  ),

  storeContractCase(
    'a session with effects in flight cannot be claimed from a live owner',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      const row = await createSession(one, 'one');
      await commitOk(one, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
      assert.deepEqual(await two.claim(row.key, 'two'), { ok: false, owned: 'one' });
      const mine = await one.claim(row.key, 'one');
      assert.ok(mine.ok);
      assert.deepEqual([mine.recovered, mine.row.epoch], [false, 1]);

      await one.leave('one');
      const taken = await two.claim(row.key, 'two');
      assert.ok(taken.ok);
      assert.deepEqual([taken.recovered, taken.row.epoch, taken.row.owner], [true, 2, 'two']);
    },
  ),

  storeContractCase('a commit of a former owner is refused and writes nothing', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    await two.join('two');
    const row = await createSession(one, 'one');
    await commitOk(one, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
    const known = await getExisting(one, row.key);
    await one.leave('one');
    const taken = await two.claim(row.key, 'two');
    assert.ok(taken.ok);
    const before = await readContent(two, row.key);
    const cursor = { records: 2, events: 2 };
    assert.deepEqual(await commitOne(one, nextStep(known, cursor)), {
      ok: false,
      refused: 'stale',
    });
    assert.deepEqual(await readContent(two, row.key), before);
    assert.deepEqual(await commitOne(two, nextStep(taken.row, cursor)), { ok: true });
  }),

  storeContractCase(
    'an evicted live owner cannot commit, and the next owner recovers its effects',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      const row = await createSession(one, 'one');
      await commitOk(one, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
      const known = await getExisting(one, row.key);
      const query = { owner: 'two', agents: ['assistant'], now: AT, limit: 10 };
      assert.deepEqual((await two.findRunnable(query)).sessions, []);
      assert.deepEqual(await two.evict(row.key), { evicted: 'one' });
      assert.deepEqual(await getExisting(two, row.key), { ...known, owner: null, epoch: 2 });
      const cursor = { records: 2, events: 2 };
      const refused = { ok: false, refused: 'stale' };
      const before = await readContent(two, row.key);
      assert.deepEqual(await commitOne(one, nextStep(known, cursor)), refused);
      assert.deepEqual(await readContent(two, row.key), before);
      assert.deepEqual(await two.evict(row.key), { evicted: null }, 'it has no owner by now');
      assert.equal((await two.findRunnable(query)).sessions.length, 1);
      const taken = await two.claim(row.key, 'two');
      assert.ok(taken.ok);
      assert.deepEqual([taken.recovered, taken.row.epoch], [true, 3]);
      assert.deepEqual(await commitOne(one, nextStep(known, cursor)), refused);
      assert.deepEqual(await commitOne(two, nextStep(taken.row, cursor)), { ok: true });
      await assert.rejects(two.evict(sessionKey('none')), SessionNotFoundError);
    },
  ),

  storeContractCase('an owner gives away a session only while it has it', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    await two.join('two');
    const { key } = await createSession(one, 'one');
    assert.deepEqual(await one.evict(key, 'two'), { evicted: null });
    assert.equal((await getExisting(one, key)).owner, 'one');
    assert.ok((await two.claim(key, 'two')).ok);
    assert.deepEqual(await one.evict(key, 'one'), { evicted: null });
    const { owner, epoch } = await getExisting(one, key);
    assert.deepEqual([owner, epoch], ['two', 2]);
    assert.deepEqual(await two.evict(key, 'two'), { evicted: 'two' });
    assert.equal((await getExisting(one, key)).owner, null);
    assert.deepEqual(await two.evict(key, 'two'), { evicted: null });
  }),

  storeContractCase('the evicted owner may claim again, with another epoch', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    await commitOk(store, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
    await store.evict(row.key);
    const claimed = await store.claim(row.key, 'one');
    assert.ok(claimed.ok);
    assert.deepEqual([claimed.recovered, claimed.row.epoch], [true, 3]);
  }),

  storeContractCase(
    'sessions are listed by status and by activity, and a released session is not quarantined',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      for (const [id, status, activity] of [
        ['a', 'running', 'running'],
        ['b', 'waiting', 'waiting'],
        ['c', 'running', 'running'],
        ['d', 'paused', 'waiting'],
        ['e', 'archived', 'idle'],
      ] as const) {
        const row = await createSession(store, 'one', id);
        await commitOk(store, [
          nextStep(row, undefined, { summary: summary({ status, activity }) }),
        ]);
      }
      await createSession(store, 'one', 'f');
      const ids = async (
        filter: Pick<SessionSelection, 'status' | 'activity'>,
      ): Promise<readonly string[]> =>
        (await store.list({ ...filter, appName: 'app', limit: 10 }))
          .map(({ key }) => key.sessionId)
          .toSorted();
      for (let failure = 0; failure < 3; failure++)
        await store.recordHydration(sessionKey('c'), false);
      assert.deepEqual(await ids({ status: 'running' }), ['a']);
      assert.deepEqual(await ids({ status: 'waiting' }), ['b']);
      assert.deepEqual(await ids({ status: 'quarantined' }), ['c']);
      assert.deepEqual(await ids({ status: 'paused' }), ['d']);
      assert.deepEqual(await ids({ status: 'archived' }), ['e']);
      assert.deepEqual(await ids({ status: 'queued' }), ['f']);
      assert.deepEqual(await ids({ activity: 'running' }), ['a']);
      assert.deepEqual(await ids({ activity: 'waiting' }), ['b', 'd']);
      assert.deepEqual(await ids({ activity: 'idle' }), ['e', 'f']);
      assert.deepEqual(await ids({ activity: 'waiting', status: 'paused' }), ['d']);
      await store.recordHydration(sessionKey('c'), true);
      assert.deepEqual(await ids({ status: 'quarantined' }), []);
      assert.deepEqual(await ids({ status: 'running' }), ['a', 'c']);
      assert.deepEqual(await ids({ activity: 'running' }), ['a', 'c']);
    },
  ),

  storeContractCase(
    'when two runtimes claim a session concurrently, one succeeds',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      await one.join('dead');
      const row = await createSession(one, 'dead');
      await commitOk(one, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
      await one.leave('dead');
      const claims = await Promise.all([one.claim(row.key, 'one'), two.claim(row.key, 'two')]);
      const won = claims.filter(({ ok }) => ok);
      assert.equal(won.length, 1, 'the winner is alive and has effects in flight');
      assert.equal((await getExisting(one, row.key)).epoch, 2);
    },
  ),

  storeContractCase(
    'when two processes join with the same id concurrently, one is refused and the other stays alive',
    async (harness) => {
      const stores = [await harness.open(), await harness.open(), await harness.open()];
      const [one, two, watcher] = stores;
      assert.ok(one && two && watcher);
      await watcher.join('watcher');
      // Each process joins twice, which is allowed.
      const joined = await Promise.allSettled(
        [one, two].map(async (store) => Promise.all([store.join('same'), store.join('same')])),
      );
      assert.deepEqual(joined.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      const winner = joined[0]?.status === 'fulfilled' ? one : two;
      const row = await createSession(winner, 'same');
      await commitOk(winner, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
      assert.deepEqual(await watcher.claim(row.key, 'watcher'), { ok: false, owned: 'same' });
      await winner.leave('same');
      assert.equal((await watcher.claim(row.key, 'watcher')).ok, true);
      // The id is free again.
      await (winner === one ? two : one).join('same');
    },
    { durability: 'crash' },
  ),

  storeContractCase('a runtime finds the sessions with work that it can take', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    await two.join('two');
    const now = AT + 100;
    const make = async (
      id: string,
      owner: string,
      more: Parameters<typeof summary>[0],
      agent?: string,
    ): Promise<void> => {
      const store = owner === 'two' ? two : one;
      const row = await createSession(store, owner, id, agent === undefined ? {} : { agent });
      await commitOk(store, [nextStep(row, undefined, { summary: summary(more) })]);
    };
    await one.join('dead');
    await make('mine idle', 'one', { inFlight: 0 });
    await make('mine in flight', 'one', { inFlight: 1 });
    await make('mine due', 'one', { nextDueAt: now });
    await make('mine not due', 'one', { nextDueAt: now + 1 });
    await make('mine in flight, not due', 'one', { inFlight: 2, nextDueAt: now + 1 });
    await make('mine unread', 'one', {});
    await make('mine of another agent', 'one', { inFlight: 1 }, 'other');
    await make('theirs in flight', 'two', { inFlight: 1 });
    await make('theirs unread', 'two', {});
    await make('theirs due', 'two', { nextDueAt: now });
    await make('unowned in flight', 'dead', { inFlight: 1 });
    await make('unowned unread', 'dead', {});
    await make('unowned idle', 'dead', {});
    await make('mine quarantined', 'one', { inFlight: 1 });
    for (let failure = 0; failure < 3; failure++)
      await one.recordHydration(sessionKey('mine quarantined'), false);
    for (const id of ['mine unread', 'theirs unread', 'unowned unread']) {
      await two.inject(sessionKey(id), { place: 'session.input', value: 1 }, 'k');
      await two.inject(sessionKey(id), { place: 'session.input', value: 2 }, 'l');
    }
    await one.leave('dead');

    const query = { owner: 'one', agents: ['assistant'], now, limit: 100 };
    const names = ({ sessions }: RunnablePage): readonly string[] =>
      sessions.map(({ key }) => key.sessionId).toSorted();
    const expected = [
      'mine due',
      'mine in flight',
      'mine in flight, not due',
      'mine unread',
      'unowned in flight',
      'unowned unread',
    ];
    assert.deepEqual(names(await one.findRunnable(query)), expected);
    assert.deepEqual(names(await one.findRunnable({ ...query, agents: ['other', 'unknown'] })), [
      'mine of another agent',
    ]);
    assert.deepEqual(names(await one.findRunnable({ ...query, agents: [] })), []);
    assert.equal((await one.findRunnable({ ...query, limit: 2 })).sessions.length, 2);
    assert.deepEqual(
      (await one.findRunnable(query)).sessions.map((row) => row.inboxPending).filter(Boolean)
        .length,
      2,
    );

    // When the other owner has left, its sessions can be claimed.
    await two.leave('two');
    assert.deepEqual(names(await one.findRunnable(query)), [
      ...expected.filter((name) => !name.startsWith('unowned')),
      'theirs due',
      'theirs in flight',
      'theirs unread',
      'unowned in flight',
      'unowned unread',
    ]);
  }),

  storeContractCase(
    'a session that was created with work is found before its first step, and its step decides what comes next',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      const init = { agent: 'assistant', owner: 'one', at: AT, netHash: NET_HASH };
      const { row } = await one.create(sessionKey('created'), { ...init, nextDueAt: AT + 5 });
      assert.equal(row.nextDueAt, AT + 5);
      const key = sessionKey('submitted');
      await one.submit({ sessions: [{ key, init: { ...init, nextDueAt: AT } }] });
      const find = async (store: Store, owner: string, now: number): Promise<readonly string[]> =>
        (await store.findRunnable({ owner, now, limit: 10 })).sessions.map(
          (found) => found.key.sessionId,
        );
      assert.deepEqual(await find(one, 'one', AT), ['submitted']);
      assert.deepEqual(await find(one, 'one', AT + 5), ['submitted', 'created']);
      assert.deepEqual(await find(two, 'two', AT + 5), []);
      await commitOk(one, [nextStep(row)]);
      assert.deepEqual(await find(one, 'one', AT + 5), ['submitted']);
      await one.leave('one');
      assert.deepEqual(await find(two, 'two', AT + 5), ['submitted']);
    },
  ),

  storeContractCase(
    'among running sessions, those that are unchanged for longest come first',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      for (const [id, at] of [
        ['b', 20],
        ['a', 10],
        ['c', 30],
      ] as const) {
        const row = await createSession(store, 'one', id);
        await commitOk(store, [
          nextStep(row, undefined, { at: AT + at, summary: summary({ inFlight: 1 }) }),
        ]);
      }
      const { sessions } = await store.findRunnable({
        owner: 'one',
        agents: ['assistant'],
        now: AT,
        limit: 2,
      });
      assert.deepEqual(
        sessions.map(({ key }) => key.sessionId),
        ['a', 'b'],
      );
    },
  ),

  storeContractCase(
    'sessions with work are read in pages, also when sessions change or are deleted between two pages',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const rows: SessionRow[] = [];
      // Three sessions at each time, so that pages end between sessions of the same time.
      for (const [n, id] of ['z', 'B', 'a', 'ä', 'c', '10', '9', 'A', 'b'].entries()) {
        const row = await createSession(store, 'one', id, { userId: `u${n % 2}` });
        const at = AT + Math.floor(n / 3);
        await commitOk(store, [
          nextStep(row, undefined, { at, summary: summary({ inFlight: 1 }) }),
        ]);
        rows.push(await getExisting(store, row.key));
      }
      const query = { owner: 'one', now: AT, limit: 2 };
      const { sessions: all } = await store.findRunnable({ ...query, limit: 100 });
      assert.deepEqual(
        all.map(({ updatedAt }) => updatedAt),
        rows.map(({ updatedAt }) => updatedAt),
      );
      const listAfter = async (
        last: SessionRow | undefined,
        limit: number,
      ): Promise<readonly SessionRow[]> => {
        const after = last === undefined ? undefined : toRunnablePosition(last);
        return (await store.findRunnable({ ...query, after, limit })).sessions;
      };
      const names = async (): Promise<readonly string[]> => {
        const read: SessionRow[] = [];
        for (let page: readonly SessionRow[] = all.slice(0, 1); page.length > 0;) {
          page = await listAfter(read.at(-1), query.limit);
          read.push(...page);
        }
        return read.map(({ key }) => key.sessionId);
      };
      const sorted = all.map(({ key }) => key.sessionId);
      assert.deepEqual(sorted, ['a', 'z', 'B', 'c', '10', 'ä', '9', 'b', 'A']);
      assert.deepEqual(await names(), sorted);
      // The last session of a page moves to the end, and that of the next page is deleted.
      const [, second, third, fourth] = all;
      if (second === undefined || third === undefined || fourth === undefined) assert.fail();
      await commitOk(store, [
        nextStep(
          second,
          { records: 2, events: 2 },
          { at: AT + 9, summary: summary({ inFlight: 1 }) },
        ),
      ]);
      await store.delete(fourth.key);
      const afterSecond = await listAfter(second, 100);
      const left = [...sorted.slice(2, 3), ...sorted.slice(4), second.key.sessionId];
      assert.deepEqual(
        afterSecond.map(({ key }) => key.sessionId),
        left,
      );
      const afterFourth = await listAfter(fourth, 100);
      assert.deepEqual(
        afterFourth.map(({ key }) => key.sessionId),
        left.slice(1),
      );
    },
  ),

  storeContractCase(
    'the earliest timer is known, with effects in flight or without',
    async (harness) => {
      const [one, two] = [await harness.open(), await harness.open()];
      await one.join('one');
      await two.join('two');
      const findDue = async (
        owner: string,
        agents = ['assistant'],
        now = AT,
      ): Promise<number | undefined> =>
        (await one.findRunnable({ owner, agents, now, limit: 0 })).nextDueAt;
      assert.equal(await findDue('one'), undefined);
      const timer = async (
        id: string,
        owner: string,
        nextDueAt: number,
        inFlight: number,
        agent = 'assistant',
      ): Promise<void> => {
        const store = owner === 'one' ? one : two;
        const row = await createSession(store, owner, id, { agent });
        await commitOk(store, [
          nextStep(row, undefined, { summary: summary({ nextDueAt, inFlight }) }),
        ]);
      };
      await timer('a', 'one', AT + 50, 0);
      await timer('b', 'one', AT + 60, 0);
      assert.equal(await findDue('one'), AT + 50);
      // A session with effects in flight is found anyway, or its owner runs it.
      await timer('c', 'one', AT + 40, 1);
      assert.equal(await findDue('one'), AT + 50);
      // So is one with unread inputs.
      await timer('u', 'one', AT + 45, 0);
      assert.equal(await findDue('one'), AT + 45);
      await one.inject(sessionKey('u'), { place: 'p', value: 1 }, 'unread');
      assert.equal(await findDue('one'), AT + 50);
      await timer('d', 'two', AT + 30, 0);
      await timer('e', 'one', AT + 20, 0, 'other');
      assert.equal(await findDue('one'), AT + 50);
      assert.equal(await findDue('two'), AT + 30);
      assert.equal(await findDue('one', ['assistant', 'other']), AT + 20);
      assert.equal(await findDue('one', ['assistant'], AT + 50), AT + 60);
      assert.equal(await findDue('one', ['assistant'], AT + 60), undefined);
    },
  ),

  storeContractCase(
    'sessions are found in the order of the time since which they have work',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      for (const [id, at, more] of [
        ['due second', 1, { nextDueAt: AT + 20 }],
        ['due first', 2, { nextDueAt: AT + 10 }],
        ['running', 15, { inFlight: 1, nextDueAt: AT + 5 }],
        ['unread', 12, { nextDueAt: AT + 25 }],
        ['due third', 3, { nextDueAt: AT + 30 }],
      ] as const) {
        const row = await createSession(store, 'one', id);
        await commitOk(store, [nextStep(row, undefined, { at: AT + at, summary: summary(more) })]);
      }
      await store.inject(sessionKey('unread'), { place: 'session.input', value: 1 }, 'k');
      const found: string[] = [];
      let after: RunnablePosition | undefined;
      for (;;) {
        const query = { owner: 'one', now: AT + 29, limit: 2, after };
        const { sessions, nextDueAt } = await store.findRunnable(query);
        assert.equal(nextDueAt, AT + 30);
        for (const row of sessions) {
          found.push(row.key.sessionId);
          after = toRunnablePosition(row);
        }
        if (sessions.length < 2) break;
      }
      assert.deepEqual(found, ['due first', 'unread', 'running', 'due second']);
    },
  ),

  storeContractCase(
    'a few sessions with work are found among 10,000 idle ones',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const ids = Array.from({ length: 10_000 }, (_, index) => `s${index}`);
      const rows = await Promise.all(ids.map((id) => createSession(store, 'one', id)));
      const busy = rows.filter((_, index) => index % 3000 === 2999);
      await commitOk(
        store,
        busy.map((row) => nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })),
      );
      await store.inject(sessionKey('s5'), { place: 'session.input', value: 1 }, 'k');
      const { sessions: found } = await store.findRunnable({
        owner: 'one',
        agents: ['assistant'],
        now: AT,
        limit: 100,
      });
      assert.deepEqual(found.map(({ key }) => key.sessionId).toSorted(), [
        's2999',
        's5',
        's5999',
        's8999',
      ]);
      assert.equal((await store.list({ limit: 10 })).length, 10);
    },
  ),
];
