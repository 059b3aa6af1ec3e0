import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, effect, net, oneOf, place, pure } from '../../net/index.ts';
import type { JournalRecord, Net } from '../../net/index.ts';
import { encodeMarking, replayRecords } from '../../net/journal/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { InspectedRecord } from '../inspection/inspected-record.ts';
import type { Session } from '../session/session.ts';
import { hydrateFor } from './hydrate.ts';
import { trimJournal } from './trim-journal.ts';

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

/** Notes are kept until they are released. A job runs in an effect. The names are those of two releases. */
function notes(isRenamed: boolean, runs: string[]): Net {
  const named = (current: string, former: string): [string, { readonly formerNames: string[] }] =>
    isRenamed ? [current, { formerNames: [former] }] : [former, { formerNames: [] }];
  const [requestedName, requestedFormer] = named('note.requested', 'note.asked');
  const [doneName, doneFormer] = named('note.done', 'note.did');
  const [releaseName, releaseFormer] = named('note.release', 'note.let-go');
  const [runName, runFormer] = named('note.run', 'note.do');
  const input = { environment: true, version: 1 };
  const requested = place(requestedName, anything, { ...input, ...requestedFormer });
  const release = place('note.in', anything, input);
  const start = place('note.start', anything, input);
  const done = place(doneName, anything, { version: 1, ...doneFormer });
  return net('notes', {
    in: { requested, release, start },
    transitions: [
      pure(releaseName, {
        ...releaseFormer,
        take: { note: requested, release },
        give: allOf({ done }),
        run: ({ note }) => ({ done: note }),
      }),
      effect(runName, {
        ...runFormer,
        take: { start },
        give: oneOf({ done }),
        onCrash: 'rerun',
        failed: ({ message }) => ({ done: message }),
        run: async ({ start }, { signal }) => {
          runs.push(isRenamed ? 'new' : 'old');
          if (isRenamed) return { done: start };
          return new Promise<never>((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('stopped')));
          });
        },
      }),
    ],
  });
}

function createAgent(isRenamed: boolean, runs: string[] = []): Agent {
  return agent({
    name: 'echo',
    model: new ScriptedModel(({ contents }) => ({
      text: `You said ${contentText(contents.at(-1))}`,
    })),
    extensions: [notes(isRenamed, runs)],
  });
}

async function send(session: Session, text: string): Promise<string> {
  const turn = session.send(text);
  for await (const _ of turn);
  return turn.invocationId;
}

async function untilRead(session: Session): Promise<void> {
  while ((await session.status()).inboxPending) await new Promise(setImmediate);
}

async function readRecords(session: Session): Promise<readonly InspectedRecord[]> {
  const records: InspectedRecord[] = [];
  for await (const record of session.records()) records.push(record);
  return records;
}

/** Leaves a session of the former names: a note, a job in flight, and a note in the inbox. */
async function leaveSession(store: MemoryStore, runs: string[]): Promise<readonly string[]> {
  const invocations: string[] = [];
  let key: SessionKey;
  {
    await using runtime = await openRuntime({ agents: [createAgent(false, runs)], store });
    const session = await runtime.session('x');
    ({ key } = session);
    invocations.push(await send(session, 'one'));
    for (const note of ['a', 'b'])
      await session.inject('note.asked', note, { dedupeKey: `note ${note}` });
    await session.inject('note.in', null, { dedupeKey: 'release a' });
    await session.inject('note.start', 'job', { dedupeKey: 'job' });
    await untilRead(session);
    invocations.push(await send(session, 'two'));
    while (runs.length === 0) await new Promise(setImmediate);
  }
  const input = { place: 'note.asked', value: 'c' };
  await store.inject(key, input, 'signal:note.asked:note c');
  return invocations;
}

async function openSession(runtime: Runtime): Promise<Session> {
  const session = await runtime.session('x');
  await untilRead(session);
  while ((await session.status()).inFlight > 0) await new Promise(setImmediate);
  return session;
}

test('a session continues under new names: tokens, a firing in flight, and inputs that wait in the store', async () => {
  const store = new MemoryStore();
  const runs: string[] = [];
  await leaveSession(store, runs);
  await using runtime = await openRuntime({ agents: [createAgent(true, runs)], store });
  const session = await openSession(runtime);
  assert.deepEqual(runs, ['old', 'new']);
  // A signal that is repeated under the new name is the same signal.
  const repeated = await session.inject('note.requested', 'c', { dedupeKey: 'note c' });
  assert.equal(repeated.duplicate, true);
  await session.inject('note.in', null, { dedupeKey: 'release b' });
  await untilRead(session);
  const { places } = await session.markingAt();
  const values = (name: string): unknown => {
    const shown = places[name];
    return shown?.kind === 'tokens' ? shown.tokens?.map(({ value }) => value) : undefined;
  };
  assert.deepEqual(values('note.requested'), ['c']);
  assert.deepEqual(values('note.done'), ['a', 'job', 'b']);
});

test('a program may still name a place by its former name', async () => {
  await using runtime = await openRuntime({ agents: [createAgent(true)] });
  const session = await runtime.session('x');
  const former = place('note.asked', anything, { environment: true, version: 1 });
  const key = { dedupeKey: 'a' };
  assert.equal((await session.inject('note.asked', 'a', key)).duplicate, false);
  for (const name of ['note.requested', 'note.asked', former])
    assert.equal((await session.inject(name, 'a', key)).duplicate, true);
  await untilRead(session);
  const { places } = await session.markingAt();
  const shown = places['note.requested'];
  assert.deepEqual(shown?.kind === 'tokens' ? shown.tokens?.map(({ value }) => value) : [], ['a']);
});

test('an inspection shows old records and markings with the names of the net', async () => {
  const store = new MemoryStore();
  await leaveSession(store, []);
  await using runtime = await openRuntime({ agents: [createAgent(true)], store });
  const session = await openSession(runtime);
  const net = await session.net();
  const transitions = new Set(net.transitions.map(({ name }) => name));
  const known = new Set(net.places.map(({ name }) => name));
  const records = await readRecords(session);
  const stored = records.map((one) => one.stored ?? assert.fail());
  for (const { record, transition, taken, given } of records) {
    assert.ok(transition === undefined || transitions.has(transition), transition);
    for (const { place: name } of [...taken, ...given]) assert.ok(known.has(name), name);
    const { encoded, places } = await session.markingAt(record);
    for (const name of Object.keys(places)) assert.ok(known.has(name), name);
    assert.deepEqual(encoded, encodeMarking(replayRecords(stored.slice(0, record))));
  }
  assert.ok(records.some(({ transition }) => transition === 'note.release'));
});

test('the stored journal needs no names: a replay of it has the current marking', async () => {
  const store = new MemoryStore();
  await leaveSession(store, []);
  await using runtime = await openRuntime({ agents: [createAgent(true)], store });
  const session = await openSession(runtime);
  const records: JournalRecord[] = [];
  for await (const step of store.steps(session.key, 0)) records.push(...step.records);
  const replayed = replayRecords(records);
  assert.deepEqual(encodeMarking(replayed), (await session.markingAt()).encoded);
  assert.equal(records.filter(({ kind }) => kind === 'upgraded').length, 1);
});

test('a session of former names is forked and rewound to before its names changed', async () => {
  const store = new MemoryStore();
  const [, second = ''] = await leaveSession(store, []);
  await using runtime = await openRuntime({ agents: [createAgent(true)], store });
  const session = await openSession(runtime);
  await session.inject('note.in', null, { dedupeKey: 'release b' });
  await untilRead(session);
  const points: number[] = [];
  for await (const { upTo } of session.forkPoints()) points.push(upTo);
  for (const upTo of points) {
    const fork = await session.fork({ id: `fork ${upTo}`, upTo });
    await send(fork, 'again');
    const { places } = await fork.markingAt();
    assert.deepEqual(
      Object.keys(places).filter((name) => ['note.asked', 'note.did'].includes(name)),
      [],
      `fork ${upTo}`,
    );
  }
  await session.rewind({ beforeInvocationId: second });
  await send(session, 'three');
  const { places } = await session.markingAt();
  const { conversation } = places;
  assert.equal(conversation?.count, 4);
});

test('an older release refuses a session with names that it does not know, and the session stays as it is', async () => {
  const store = new MemoryStore();
  {
    await using runtime = await openRuntime({ agents: [createAgent(true)], store });
    const session = await runtime.session('x');
    await send(session, 'one');
    await session.inject('note.requested', 'a', { dedupeKey: 'note a' });
    await untilRead(session);
  }
  {
    await using older = await openRuntime({ agents: [createAgent(false)], store });
    await assert.rejects(older.session('x'), { code: 'net_changed', places: ['note.requested'] });
    const session = (await older.find('x')) ?? assert.fail();
    const { status, failures } = await session.status();
    assert.deepEqual({ status, failures }, { status: 'idle', failures: 0 });
  }
  await using runtime = await openRuntime({ agents: [createAgent(true)], store });
  const session = await runtime.session('x');
  await send(session, 'two');
  const { places } = await session.markingAt();
  assert.equal(places['note.requested']?.count, 1);
});

test('a journal that was trimmed under former names is read with the current ones', async () => {
  const store = new MemoryStore();
  {
    await using runtime = await openRuntime({ agents: [createAgent(false)], store });
    const session = await runtime.session('x');
    for (const note of ['a', 'b'])
      await session.inject('note.asked', note, { dedupeKey: `note ${note}` });
    await session.inject('note.in', null, { dedupeKey: 'release a' });
    await untilRead(session);
    for (const text of ['one', 'two']) await send(session, text);
    assert.ok(await trimJournal(store, session.key, { upTo: Number.MAX_SAFE_INTEGER }));
  }
  await using runtime = await openRuntime({ agents: [createAgent(true)], store });
  const session = await openSession(runtime);
  const [base] = await readRecords(session);
  assert.equal(base?.kind, 'trimmed');
  const { places } = await session.markingAt(base.record);
  const held = Object.keys(places).filter((name) => name.startsWith('note.'));
  assert.deepEqual(held, ['note.done', 'note.requested']);
  await session.inject('note.in', null, { dedupeKey: 'release b' });
  await untilRead(session);
  await send(session, 'three');
  const inspected = await readRecords(session);
  const stored = inspected.flatMap((record) => record.stored ?? []);
  const end = encodeMarking(replayRecords(stored));
  assert.deepEqual(
    end.tokens['note.done']?.map(([, , value]) => value),
    ['a', 'b'],
  );
  assert.deepEqual(
    end,
    encodeMarking(await hydrateFor(store, session.key, createAgent(true).compiled)),
  );
});
