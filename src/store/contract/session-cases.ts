import assert from 'node:assert/strict';
import { childSessionId, InvalidInputError } from '../../core/index.ts';
import { SessionNotFoundError } from '../store-errors.ts';
import type { SessionFilter } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  AT,
  collect,
  commitOk,
  commitOne,
  commitSampleSteps,
  readContent,
  createSession,
  fired,
  getExisting,
  NET_HASH,
  nextStep,
  sessionKey,
  summary,
  turnStarted,
} from './sample-steps.ts';

export const sessionCases: readonly StoreContractCase[] = [
  storeContractCase('a created session is found, and no other', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const key = sessionKey('s');
    const { row, created } = await store.create(key, {
      agent: 'assistant',
      owner: 'one',
      at: AT,
      netHash: NET_HASH,
    });
    assert.equal(created, true);
    const { uid, ...rest } = row;
    assert.notEqual(uid, '');
    assert.deepEqual(rest, {
      ...summary({ status: 'queued', activity: 'idle' }),
      key,
      agent: 'assistant',
      owner: 'one',
      epoch: 1,
      head: 0,
      lastSeq: 0,
      inboxPending: false,
      failures: 0,
      createdAt: AT,
      updatedAt: AT,
    });
    assert.deepEqual(await store.find(key), row);
    assert.equal(await store.find(sessionKey('t')), undefined);
    assert.equal(await store.find(sessionKey('s', 'bob')), undefined);
    assert.equal(await store.find(sessionKey('s', 'ada', 'other')), undefined);
  }),

  storeContractCase(
    'the bytes of sessions are those of their records and events, until they are deleted',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const long = 'ä'.repeat(10_000);
      const measure = (items: readonly object[]): number =>
        Buffer.byteLength(
          JSON.stringify(items, (name, value: unknown) =>
            name === 'seq' || name === 'at' ? undefined : value,
          ),
        );
      const row = await createSession(store, 'one');
      const at = row.updatedAt + 1;
      const step = nextStep(row, undefined, {
        records: [fired(1, at)],
        events: [turnStarted(1, at, long)],
      });
      const second = nextStep(
        { ...row, head: 1 },
        { records: 1, events: 1 },
        { at, records: [fired(2, at)], events: [] },
      );
      const bytes = [step, second].reduce(
        (sum, { records, events }) => sum + measure(records) + measure(events),
        0,
      );
      assert.equal(await store.countBytes({ appName: 'app' }), 0);
      await commitOk(store, [step, second]);
      assert.ok(bytes > 20_000);
      assert.equal(await store.countBytes({ appName: 'app' }), bytes);
      const other = await createSession(store, 'one', 't', { userId: 'bob' });
      await commitOk(store, [{ ...nextStep(other), at: row.updatedAt + 1 }]);
      const ofOther = await store.countBytes({ appName: 'app', userId: 'bob' });
      assert.ok(ofOther > 0);
      assert.equal(await store.countBytes({ appName: 'app', userId: 'ada' }), bytes);
      assert.equal(await store.countBytes({ appName: 'app' }), bytes + ofOther);
      assert.equal(await store.countBytes({ appName: 'other' }), 0);
      // A refused step adds nothing.
      await store.commit([step]);
      assert.equal(await store.countBytes({ userId: 'ada' }), bytes);
      await store.delete(row.key);
      assert.equal(await store.countBytes({ appName: 'app' }), ofOther);
    },
  ),

  storeContractCase('the row has the status and the activity of the last step', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const row = await createSession(store, 'one');
    await commitOk(store, [
      nextStep(row, undefined, { summary: summary({ status: 'paused', activity: 'waiting' }) }),
    ]);
    const paused = await getExisting(store, row.key);
    assert.deepEqual([paused.status, paused.activity], ['paused', 'waiting']);
    await commitOk(store, [nextStep(paused, { records: 2, events: 2 })]);
    const running = await getExisting(store, row.key);
    assert.deepEqual([running.status, running.activity], ['running', 'running']);
  }),

  storeContractCase('sessions with work are found without naming agents', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const due = summary({ nextDueAt: AT + 9 });
    for (const agent of ['first', 'second']) {
      const row = await createSession(store, 'one', agent, { agent });
      await commitOk(store, [nextStep(row, undefined, { summary: due })]);
    }
    const query = { owner: 'one', now: AT + 9, limit: 9 };
    assert.equal((await store.findRunnable(query)).sessions.length, 2);
    assert.equal((await store.findRunnable({ ...query, agents: ['first'] })).sessions.length, 1);
    const withoutAgents = { ...query, agents: [] };
    assert.equal((await store.findRunnable(withoutAgents)).sessions.length, 0);
    assert.equal((await store.findRunnable({ ...query, now: AT })).nextDueAt, AT + 9);
    assert.equal((await store.findRunnable({ ...withoutAgents, now: AT })).nextDueAt, undefined);
  }),

  storeContractCase('creating an existing session returns it unchanged', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    await store.join('two');
    const row = await createSession(store, 'one');
    const again = await store.create(row.key, {
      agent: 'other',
      owner: 'two',
      at: AT + 5,
      netHash: 'net-2',
    });
    assert.deepEqual(again, { row, created: false });
  }),

  storeContractCase('concurrent creations of one session return the same one', async (harness) => {
    const [one, two] = [await harness.open(), await harness.open()];
    await one.join('one');
    await two.join('two');
    const init = { agent: 'assistant', at: AT, netHash: NET_HASH };
    const calls = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? one.create(sessionKey('s'), { ...init, owner: 'one' })
        : two.create(sessionKey('s'), { ...init, owner: 'two' }),
    );
    const results = await Promise.all(calls);
    assert.equal(results.filter(({ created }) => created).length, 1);
    assert.equal(new Set(results.map(({ row }) => row.uid)).size, 1);
  }),

  storeContractCase('a runtime that has not joined cannot own a session', async (harness) => {
    const store = await harness.open();
    await assert.rejects(createSession(store, 'one'), inputError('owner'));
    await store.join('one');
    const { key } = await createSession(store, 'one');
    await assert.rejects(store.claim(key, 'two'), inputError('owner'));
  }),

  storeContractCase('an invalid name is refused, and the error has the field', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const init = { agent: 'assistant', owner: 'one', at: AT, netHash: NET_HASH };
    await assert.rejects(store.create(sessionKey(''), init), inputError('sessionId'));
    await assert.rejects(store.create(sessionKey('s', 'a\0b'), init), inputError('userId'));
    await assert.rejects(
      store.create(sessionKey('s', 'a', 'x'.repeat(600)), init),
      inputError('appName'),
    );
    await assert.rejects(
      store.create(sessionKey('s'), { ...init, agent: '' }),
      inputError('agent'),
    );
    await assert.rejects(store.join(''), inputError('owner'));
    const { key } = await createSession(store, 'one');
    await assert.rejects(store.inject(key, { place: 'p', value: 1 }, ''), inputError('dedupeKey'));
    await assert.rejects(store.findInput(key, ''), inputError('dedupeKey'));
    await assert.rejects(store.inbox(key, -1), inputError('after'));
    await assert.rejects(collect(store.read(key, 0.5)), inputError('from'));
    await assert.rejects(collect(store.steps(key, -1)), inputError('after'));
    await assert.rejects(collect(store.listSteps(key, Number.NaN)), inputError('fromRecord'));
    await assert.rejects(store.list({ limit: -1 }), inputError('limit'));
  }),

  storeContractCase(
    'an unknown word in a filter is refused, not taken for the default',
    async (harness) => {
      const store = await harness.open();
      // As a program without types may pass them.
      const list = async (words: object): Promise<unknown> =>
        store.list(withWords<SessionFilter>({}, words));
      await assert.rejects(list({ order: 'oldest' }), inputError('order'));
      await assert.rejects(list({ direction: 'asc' }), inputError('direction'));
      await assert.rejects(list({ status: 'done' }), inputError('status'));
      await assert.rejects(list({ activity: null }), inputError('activity'));
      const calls = withWords({ appName: 'app', limit: 1 }, { needs: 'answer' });
      await assert.rejects(store.pendingCalls(calls), inputError('needs'));
      const documents = withWords({ kind: 'k' }, { order: 'desc' });
      await assert.rejects(store.documents(documents), inputError('order'));
    },
  ),

  storeContractCase(
    'sessions are counted by status, for an app, a user or an agent',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      assert.deepEqual(await store.countSessions({}), {});
      const done = await createSession(store, 'one', 'done');
      await commitOk(store, [
        nextStep(done, undefined, { summary: summary({ status: 'archived', activity: 'idle' }) }),
      ]);
      const newRow = await createSession(store, 'one', 'new');
      await createSession(store, 'one', 'bobs', { userId: 'bob', agent: 'other' });
      await createSession(store, 'one', childSessionId('new', `${newRow.uid}/1`));
      const app = { appName: done.key.appName };
      assert.deepEqual(await store.countSessions(app), { archived: 1, queued: 3 });
      assert.deepEqual(await store.countSessions({ ...app, parent: null }), {
        archived: 1,
        queued: 2,
      });
      const ada = { ...app, userId: done.key.userId };
      assert.deepEqual(await store.countSessions({ ...ada, parent: 'new' }), { queued: 1 });
      assert.deepEqual(await store.countSessions({ ...ada, status: 'archived' }), { archived: 1 });
      assert.deepEqual(await store.countSessions({ ...app, agent: 'other' }), { queued: 1 });
      assert.deepEqual(await store.countSessions({ appName: 'none' }), {});
    },
  ),

  storeContractCase(
    'the users with sessions are listed once, by app, and on request those with deleted ones',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const query = { appName: 'app' };
      assert.deepEqual(await store.listUsers(query), []);
      const bobs = await createSession(store, 'one', 'first', { userId: 'bob' });
      await createSession(store, 'one', 'first', { userId: 'Zoe' });
      await createSession(store, 'one', 'first', { userId: 'ada' });
      await createSession(store, 'one', 'second', { userId: 'ada' });
      assert.deepEqual(await store.listUsers(query), ['Zoe', 'ada', 'bob']);
      await store.delete(bobs.key);
      assert.deepEqual(await store.listUsers(query), ['Zoe', 'ada']);
      assert.deepEqual(await store.listUsers({ ...query, withDeleted: true }), [
        'Zoe',
        'ada',
        'bob',
      ]);
      assert.deepEqual(await store.listUsers({ appName: 'other', withDeleted: true }), []);
    },
  ),

  storeContractCase(
    'sessions are listed last changed first, by app, user and agent',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const early = await createSession(store, 'one', 'early', { at: AT });
      await createSession(store, 'one', 'late', { at: AT + 20 });
      await createSession(store, 'one', 'twin', { at: AT + 20 });
      await createSession(store, 'one', 'bobs', { at: AT + 10, userId: 'bob', agent: 'other' });
      const names = async (filter: Parameters<typeof store.list>[0]): Promise<readonly string[]> =>
        (await store.list(filter)).map(({ key }) => key.sessionId);

      assert.deepEqual(await names({}), ['twin', 'late', 'bobs', 'early']);
      await commitOk(store, [nextStep(early, undefined, { at: AT + 30 })]);
      assert.deepEqual(await names({}), ['early', 'twin', 'late', 'bobs']);
      assert.deepEqual(await names({ appName: 'app', userId: 'ada' }), ['early', 'twin', 'late']);
      assert.deepEqual(await names({ userId: 'bob' }), ['bobs']);
      assert.deepEqual(await names({ agent: 'other' }), ['bobs']);
      assert.deepEqual(await names({ appName: 'other' }), []);
      assert.deepEqual(await names({ limit: 2 }), ['early', 'twin']);
      assert.deepEqual(await names({ limit: 2, after: sessionKey('twin') }), ['late', 'bobs']);
      assert.deepEqual(await names({ limit: 2, after: sessionKey('bobs', 'bob') }), []);
      await assert.rejects(names({ after: sessionKey('gone') }), SessionNotFoundError);
    },
  ),

  storeContractCase(
    'sessions are listed by creation, in pages that stay the same when sessions change or are deleted',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const at = {
        early: AT,
        b: AT + 10,
        a: AT + 10,
        ä: AT + 10,
        '\u{1f600}': AT + 10,
        '\uffee': AT + 10,
      };
      for (const [id, created] of Object.entries(at))
        await createSession(store, 'one', id, { at: created });
      await createSession(store, 'one', 'bobs', { at: AT + 5, userId: 'bob', agent: 'other' });
      const called = `b/${(await getExisting(store, sessionKey('b'))).uid}/7`;
      await createSession(store, 'one', called, { at: AT + 20 });
      await commitOk(store, [
        nextStep(await getExisting(store, sessionKey('early')), undefined, { at: AT + 30 }),
      ]);
      type Filter = Parameters<typeof store.list>[0];
      const names = async (filter: Filter): Promise<readonly string[]> =>
        (await store.list(filter)).map(({ key }) => key.sessionId);
      const ada = { appName: 'app', userId: 'ada', parent: null, order: 'created' } as const;
      // Ids of the same time are in their order, whoever has them.
      await createSession(store, 'one', 'aa', { at: AT + 20, userId: 'zoe' });
      await createSession(store, 'one', 'ab', { at: AT + 20, userId: 'abe' });
      await createSession(store, 'one', 'aa', { at: AT + 20, userId: 'abe' });
      const latest = await store.list({ parent: null, order: 'created', limit: 3 });
      assert.deepEqual(
        latest.map(({ key: { sessionId, userId } }) => [sessionId, userId]),
        [
          ['ab', 'abe'],
          ['aa', 'zoe'],
          ['aa', 'abe'],
        ],
      );
      for (const { key } of latest) await store.delete(key);

      // Sessions of the same time are in the order of the bytes of their ids.
      const oldestFirst = ['early', 'a', 'b', 'ä', '\uffee', '\u{1f600}'];
      assert.deepEqual(await names({ ...ada, direction: 'ascending' }), oldestFirst);
      assert.deepEqual(await names(ada), oldestFirst.toReversed());
      const root = { parent: null, order: 'created' } as const;
      assert.deepEqual(await names(root), ['\u{1f600}', '\uffee', 'ä', 'b', 'a', 'bobs', 'early']);
      assert.deepEqual(await names({ ...root, agent: 'other' }), ['bobs']);
      assert.deepEqual((await names({ order: 'created', limit: 2 }))[0], called);
      assert.deepEqual(await names({ order: 'created', parent: 'b' }), [called]);

      const pages = async (filter: Filter & { readonly order: 'created' }, gone: string) => {
        const found: string[] = [];
        for (let { after } = filter; ;) {
          const rows = await store.list({ ...filter, limit: 2, after });
          found.push(...rows.map(({ key }) => key.sessionId));
          after = rows.at(-1);
          if (after === undefined) return found;
          if (after.key.sessionId === gone) await store.delete(after.key);
        }
      };
      assert.deepEqual(await pages({ ...ada, direction: 'ascending' }, 'a'), oldestFirst);
      const left = oldestFirst.filter((id) => id !== 'a');
      assert.deepEqual(await pages(ada, '\uffee'), left.toReversed());
      const position = { createdAt: AT + 10, key: sessionKey('b') };
      assert.deepEqual(await names({ ...root, after: position }), ['bobs', 'early']);
      assert.deepEqual(await names({ ...root, direction: 'ascending', after: position }), [
        'ä',
        '\u{1f600}',
      ]);
    },
  ),

  storeContractCase('sessions are listed longest unchanged first', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const early = await createSession(store, 'one', 'early', { at: AT });
    await createSession(store, 'one', 'late', { at: AT + 20 });
    await createSession(store, 'one', 'twin', { at: AT + 20 });
    const filter = { direction: 'ascending', limit: 2 } as const;
    const names = async (after: Parameters<typeof store.list>[0]): Promise<readonly string[]> =>
      (await store.list({ ...filter, ...after })).map(({ key }) => key.sessionId);
    assert.deepEqual(await names({}), ['early', 'late']);
    assert.deepEqual(await names({ after: sessionKey('late') }), ['twin']);
    await commitOk(store, [nextStep(early, undefined, { at: AT + 30 })]);
    assert.deepEqual(await names({ after: sessionKey('late') }), ['twin', 'early']);
  }),

  storeContractCase(
    "called agents' sessions are listed for the session that called, and deleted with it",
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { uid } = await createSession(store, 'one', 's_1%');
      const child = `s_1%/${uid}/7`;
      const inner = `${child}/${uid}/12`;
      const others = ['s', 's_1', 's_1%2', 'sx1%', 's_1%/notes', `s_1%2/${uid}/7`, `/${uid}/1`];
      for (const id of [child, inner, ...others]) await createSession(store, 'one', id);
      await createSession(store, 'one', child, { userId: 'bob' });
      const names = async (filter: Parameters<typeof store.list>[0]): Promise<readonly string[]> =>
        (await store.list({ userId: 'ada', ...filter })).map(({ key }) => key.sessionId).toSorted();
      const sorted = (...ids: readonly string[]): readonly string[] => ids.toSorted();

      assert.deepEqual(
        await names({ parent: null }),
        sorted('s_1%', 's', 's_1', 's_1%2', 'sx1%', 's_1%/notes'),
      );
      assert.deepEqual(await names({ parent: 's_1%' }), sorted(child, inner));
      assert.deepEqual(await names({ parent: child }), [inner]);
      assert.deepEqual(await names({ parent: 's' }), []);
      assert.equal((await names({ parent: null, limit: 6 })).length, 6);

      assert.equal(await store.delete(sessionKey('s_1%')), true);
      assert.deepEqual(await names({}), sorted(...others));
      const gone = (error: unknown): boolean =>
        error instanceof SessionNotFoundError && error.deleted;
      await assert.rejects(collect(store.read(sessionKey(inner))), gone);
      assert.equal((await store.find(sessionKey(child, 'bob')))?.key.userId, 'bob');
      // A child session that was created after its parent was deleted is deleted too.
      await createSession(store, 'one', child);
      assert.equal(await store.delete(sessionKey('s_1%')), false);
      assert.equal(await store.find(sessionKey(child)), undefined);
    },
  ),

  storeContractCase(
    'a deleted session is gone, and a new one with its key is another one',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { key } = await createSession(store, 'one');
      const shared = { reads: {}, writes: { place: 'state', set: { 'user:name': 'Ada' } } };
      const before = await getExisting(store, key);
      await commitOk(store, [nextStep(before, undefined, { shared, snapshot: { tokens: 1 } })]);
      const { row, cursor } = await commitSampleSteps(store, await getExisting(store, key), 300, {
        records: 2,
        events: 2,
      });
      await store.inject(key, { place: 'session.input', value: 'hello' }, 'message');

      assert.equal(await store.delete(key), true);
      assert.equal(await store.find(key), undefined);
      assert.deepEqual(await store.list({}), []);
      const gone = (error: unknown): boolean =>
        error instanceof SessionNotFoundError && error.deleted;
      await assert.rejects(store.inject(key, { place: 'session.input', value: 1 }, 'late'), gone);
      await assert.rejects(store.findInput(key, 'late'), gone);
      await assert.rejects(store.claim(key, 'one'), gone);
      await assert.rejects(collect(store.read(key)), gone);
      await assert.rejects(store.snapshot(key), gone);
      assert.deepEqual(await commitOne(store, nextStep(row, cursor)), {
        ok: false,
        refused: 'stale',
      });
      assert.equal(await store.delete(key), false);

      const again = await createSession(store, 'one');
      assert.notEqual(again.uid, row.uid);
      assert.deepEqual(await readContent(store, key), {
        row: again,
        steps: [],
        events: [],
        inbox: [],
        snapshot: undefined,
        shared: { entries: { 'user:name': 'Ada' }, versions: { 'user:name': 1 } },
      });
      // The former owner still has the old row. Neither its next step nor a first step may be accepted.
      assert.deepEqual(await commitOne(store, nextStep(row, cursor)), {
        ok: false,
        refused: 'stale',
      });
      assert.deepEqual(await commitOne(store, nextStep({ ...row, head: 0, epoch: 1 })), {
        ok: false,
        refused: 'stale',
      });
      assert.equal(
        (await store.inject(key, { place: 'session.input', value: 1 }, 'message')).duplicate,
        false,
      );
      assert.deepEqual(await collect(store.steps(key, 0)), []);
    },
  ),

  storeContractCase(
    'a reader fails when the session is deleted while it reads',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { row } = await commitSampleSteps(store, await createSession(store, 'one'), 100);
      const reading = (async () => {
        for await (const { seq } of store.read(row.key)) {
          if (seq === 1) await store.delete(row.key);
          if (seq === 1) await createSession(store, 'one');
        }
      })();
      await assert.rejects(reading, SessionNotFoundError);
    },
  ),

  storeContractCase(
    'a session that fails to load three times in a row is quarantined',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      await commitOk(store, [
        nextStep(row, undefined, { summary: summary({ inFlight: 1, nextDueAt: AT + 9 }) }),
      ]);
      const query = { owner: 'one', agents: ['assistant'], now: AT + 99, limit: 10 };

      assert.deepEqual(await store.recordHydration(row.key, false), { quarantined: false });
      assert.deepEqual(await store.recordHydration(row.key, false), { quarantined: false });
      assert.deepEqual(await store.recordHydration(row.key, true), { quarantined: false });
      assert.equal((await getExisting(store, row.key)).failures, 0);
      await store.recordHydration(row.key, false);
      await store.recordHydration(row.key, false);
      assert.equal((await store.findRunnable(query)).sessions.length, 1);
      assert.deepEqual(await store.recordHydration(row.key, false), { quarantined: true });
      const lost = await getExisting(store, row.key);
      assert.deepEqual([lost.status, lost.activity, lost.failures], ['quarantined', 'running', 3]);

      // Inputs wait until the quarantine ends.
      await store.inject(row.key, { place: 'session.input', value: 1 }, 'message');
      assert.deepEqual(await store.findRunnable(query), { sessions: [], nextDueAt: undefined });
      await store.recordHydration(row.key, true);
      assert.equal((await getExisting(store, row.key)).status, 'running');
      assert.equal((await store.findRunnable(query)).sessions.length, 1);
      await assert.rejects(store.recordHydration(sessionKey('gone'), false), SessionNotFoundError);
    },
  ),
];

/** Adds members that the type of the query does not allow. */
function withWords<T extends object>(query: T, words: object): T {
  return Object.assign({ ...query }, words);
}

function inputError(field: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof InvalidInputError, String(error));
    assert.equal(error.field, field);
    return true;
  };
}
