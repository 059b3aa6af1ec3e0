import assert from 'node:assert/strict';
import { agent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { Json } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { allOf, net, place, pure, SimulatedClock } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { createActiveSessions } from '../../src/runtime/hosting/create-active-sessions.ts';
import { Failover } from '../../src/runtime/hosting/failover.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, Session } from '../../src/runtime/index.ts';
import { createCommitter } from '../../src/runtime/scheduling/committer.ts';
import { createDispatcher } from '../../src/runtime/scheduling/dispatcher.ts';
import type { SessionRow, Store } from '../../src/store/index.ts';

// Two releases of an agent run at the same time on one store: a newer one with a place that the older one does not know.

/** Opens the same data, as one more process does. */
export type OpenStore = () => Promise<Store>;

export interface MixedReleasesCase {
  readonly name: string;
  readonly check: (open: OpenStore) => Promise<void>;
}

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

/** Keeps notes until they are dropped. */
function notes(): Net {
  const kept = place('note.kept', anything, { environment: true, version: 1 });
  const drop = place('note.drop-request', anything, { environment: true, version: 1 });
  return net('notes', {
    in: { kept, drop },
    transitions: [pure('note.drop', { take: { kept, drop }, give: allOf({}), run: () => ({}) })],
  });
}

function echo(extensions: readonly Net[]): Agent {
  const model = new ScriptedModel(({ contents }) => ({
    text: `You said ${contentText(contents.at(-1))}`,
  }));
  return agent({ name: 'echo', model, extensions });
}

const newer = (): Agent => echo([notes()]);
const older = (): Agent => echo([]);

interface Process {
  readonly runtime: Runtime;
  readonly errors: unknown[];
  /** The names of the store's methods that the runtime called, in order. */
  readonly calls: readonly string[];
}

/** Opens a runtime whose clock stands still, so that it learns of changes by notices and not by scans. */
async function start(
  open: OpenStore,
  release: Agent,
  { clock = new SimulatedClock(1_000_000), before = {} }: StartOptions = {},
): Promise<Process> {
  const errors: unknown[] = [];
  const calls: string[] = [];
  const store = intercept(await open(), calls, before);
  const onError = (error: unknown): void => void errors.push(error);
  const runtime = await openRuntime({ agents: [release], store, clock, onError });
  return { runtime, errors, calls };
}

interface StartOptions {
  readonly clock?: SimulatedClock;
  /** Called before a method of the store, by name. */
  readonly before?: Readonly<Record<string, () => Promise<void>>>;
}

function intercept(store: Store, calls: string[], before: StartOptions['before'] = {}): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...args: unknown[]): unknown => {
        calls.push(name);
        const call = (): unknown => Reflect.apply(member, target, args);
        const first = before[name];
        return first === undefined ? call() : first().then(call);
      };
    },
  });
}

async function say(session: Session, text: string): Promise<readonly string[]> {
  const said: string[] = [];
  for await (const event of session.send(text))
    if (event.type === 'agent.message') said.push(contentText(event.content));
  return said;
}

/** Waits for the answer to a message in the log. */
async function untilAnswered(session: Session, text: string): Promise<void> {
  for await (const event of session.events())
    if (event.type === 'agent.message' && contentText(event.content) === `You said ${text}`) return;
}

async function keepNote(session: Session): Promise<void> {
  await session.inject('note.kept', 'remember', { dedupeKey: 'kept' });
  await untilRead(session);
}

async function untilRead(session: Session): Promise<void> {
  while ((await session.status()).inboxPending) await new Promise(setImmediate);
}

const readRow = async (open: OpenStore, { key }: Pick<Session, 'key'>): Promise<SessionRow> =>
  (await (await open()).find(key)) ?? assert.fail();

const netChanged = { code: 'net_changed', places: ['note.kept'] };

/** The methods that change a session. A runtime that cannot run a session must not call them. */
const SESSION_WRITES = ['claim', 'evict', 'commit', 'recordHydration', 'delete'];

const listWrites = ({ calls }: Process): readonly string[] =>
  calls.filter((name) => SESSION_WRITES.includes(name));

export const mixedReleasesCases: readonly MixedReleasesCase[] = [
  {
    name: 'a process of an older release leaves a session of a newer one to its owner, and a message through it is answered',
    check: async (open) => {
      const current = await start(open, newer());
      await using _current = current.runtime;
      const session = await current.runtime.session('x');
      assert.deepEqual(await say(session, 'one'), ['You said one']);
      await keepNote(session);
      const owned = await readRow(open, session);

      const former = await start(open, older());
      await using _former = former.runtime;
      await assert.rejects(former.runtime.session('x'), netChanged);
      assert.deepEqual(await readRow(open, session), owned);
      const seen = (await former.runtime.find('x')) ?? assert.fail();
      await seen.send('two').accepted;
      await untilAnswered(session, 'two');
      const after = await readRow(open, session);
      assert.deepEqual([after.owner, after.epoch], [owned.owner, owned.epoch]);
      assert.deepEqual(listWrites(former), []);
      const messages = former.errors.map((error) => error instanceof Error && error.message);
      assert.equal(new Set(messages).size, 1);
    },
  },
  {
    name: 'a message through an older release fails there with net_changed, waits, and is answered when the newer release starts',
    check: async (open) => {
      const first = await start(open, newer());
      const { key } = await first.runtime.session('x');
      await keepNote(await first.runtime.session('x'));
      await first.runtime.close();
      const left = await readRow(open, { key });

      const clock = new SimulatedClock(2_000_000);
      const former = await start(open, older(), { clock });
      await using _former = former.runtime;
      const seen = (await former.runtime.find('x')) ?? assert.fail();
      const turn = seen.send('one');
      await turn.accepted;
      await assert.rejects(async () => {
        for await (const _ of turn);
      }, netChanged);
      for (let n = 0; n < 10; n++) {
        clock.advance(500);
        await new Promise(setImmediate);
      }
      assert.deepEqual(await readRow(open, { key }), { ...left, inboxPending: true });
      assert.deepEqual(listWrites(former), []);
      assert.equal(former.errors.length, 1);

      const second = await start(open, newer());
      await using _second = second.runtime;
      await untilAnswered((await second.runtime.find('x')) ?? assert.fail(), 'one');
    },
  },
  {
    name: 'a message through an older release wakes the newer one at once, also when the session has no owner',
    check: async (open) => {
      const first = await start(open, newer());
      await keepNote(await first.runtime.session('x'));
      await first.runtime.close();
      const former = await start(open, older());
      await using _former = former.runtime;
      const second = await start(open, newer());
      await using _second = second.runtime;
      const seen = (await former.runtime.find('x')) ?? assert.fail();
      await seen.send('one').accepted;
      await untilAnswered((await second.runtime.find('x')) ?? assert.fail(), 'one');
      assert.deepEqual(listWrites(former), []);
    },
  },
  {
    name: 'an older release runs a session again as soon as the newer one has removed what it does not know',
    check: async (open) => {
      const current = await start(open, newer());
      await using _current = current.runtime;
      const session = await current.runtime.session('x');
      await keepNote(session);
      const former = await start(open, older());
      await using _former = former.runtime;
      await assert.rejects(former.runtime.session('x'), netChanged);
      await session.inject('note.drop-request', null, { dedupeKey: 'drop' });
      await untilRead(session);
      const taken = await former.runtime.session('x');
      assert.deepEqual(await say(taken, 'one'), ['You said one']);
      // The newer release takes it back with a message, and the older one refuses it again.
      const back = await current.runtime.session('x');
      assert.deepEqual(await say(back, 'two'), ['You said two']);
      await back.inject('note.kept', 'again', { dedupeKey: 'again' });
      await untilRead(back);
      await assert.rejects(former.runtime.session('x'), netChanged);
      assert.deepEqual(await say(back, 'three'), ['You said three']);
    },
  },
  {
    name: 'an older release leaves a session with an unread input that only the newer one takes',
    check: async (open) => {
      const first = await start(open, newer());
      const session = await first.runtime.session('x');
      const { key } = session;
      assert.deepEqual(await say(session, 'one'), ['You said one']);
      await first.runtime.close();
      await (await open()).inject(key, { place: 'note.kept', value: 'late' }, 'signal:note.kept:l');
      const left = await readRow(open, { key });
      const former = await start(open, older());
      await using _former = former.runtime;
      await assert.rejects(former.runtime.session('x'), netChanged);
      assert.deepEqual(await readRow(open, { key }), left);
      assert.deepEqual(listWrites(former), []);
      const second = await start(open, newer());
      await using _second = second.runtime;
      const taken = await second.runtime.session('x');
      await untilRead(taken);
      assert.equal((await taken.markingAt()).places['note.kept']?.count, 1);
    },
  },
  {
    name: 'an older release that decides to claim just before the newer one commits does not get the session',
    check: async (open) => {
      const current = await start(open, newer());
      await using _current = current.runtime;
      const session = await current.runtime.session('x');
      assert.deepEqual(await say(session, 'one'), ['You said one']);
      const owned = await readRow(open, session);
      let claims = 0;
      const former = await start(open, older(), {
        before: {
          claim: async () => {
            claims++;
            await keepNote(session);
          },
        },
      });
      await using _former = former.runtime;
      await assert.rejects(former.runtime.session('x'), netChanged);
      const after = await readRow(open, session);
      assert.deepEqual([claims, after.owner, after.epoch], [1, owned.owner, owned.epoch]);
      assert.deepEqual(await say(session, 'two'), ['You said two']);
    },
  },
  {
    name: '200 sessions that cannot run here do not keep a runnable one waiting, and each is loaded once',
    check: async (open) => scanPastUnrunnable(open, 200, 4096),
  },
  {
    name: 'sessions that cannot run here, more than are remembered, do not keep a runnable one waiting',
    check: async (open) => scanPastUnrunnable(open, 50, 5),
  },
];

const SCAN_LIMIT = 10;

async function scanPastUnrunnable(
  open: OpenStore,
  count: number,
  maxUnrunnable: number,
): Promise<void> {
  const current = await start(open, newer());
  const message = (id: string): { readonly place: string; readonly value: Json } => ({
    place: 'user.in',
    value: {
      messageId: id,
      invocationId: `e-${id}`,
      content: { role: 'user', parts: [{ text: 'Hi' }] },
    },
  });
  const ids = Array.from({ length: count }, (_, n) => `note ${n}`);
  const keys = await Promise.all(
    ids.map(async (id) => {
      const session = await current.runtime.session(id);
      await keepNote(session);
      return session.key;
    }),
  );
  await current.runtime.close();
  const late = new SimulatedClock(2_000_000);
  const plain = await start(open, older(), { clock: late });
  const last = await plain.runtime.session('last');
  await say(last, 'one');
  await plain.runtime.close();
  const calls: string[] = [];
  const store = intercept(await open(), calls);
  for (const key of [...keys, last.key])
    await store.inject(key, message(`m ${key.sessionId}`), 'message');

  const clock = new SimulatedClock(3_000_000);
  const errors: unknown[] = [];
  const owner = 'runtime-of-the-older-release';
  await store.join(owner);
  const committer = createCommitter({ store });
  const agents = older();
  const activeSessions = createActiveSessions({
    store,
    committer,
    clock,
    owner,
    maxUnrunnable,
    findAgent: async () => agents,
    onError: (error) => errors.push(error),
  });
  const drives: Promise<void>[] = [];
  const untilDriven = async (): Promise<void> => {
    await new Promise(setImmediate);
    await Promise.allSettled(drives.splice(0));
  };
  const dispatcher = createDispatcher({
    clock,
    drive: async (key) => {
      const drive = activeSessions.drive(key);
      drives.push(drive);
      await drive;
    },
    onError: (_, error) => errors.push(error),
  });
  const failover = new Failover({
    store,
    owner,
    appName: 'petrichor',
    agents: ['echo'],
    clock,
    scanLimit: SCAN_LIMIT,
    activeSessions,
    schedule: (key) => dispatcher.schedule(key),
    onScanned: () => {},
    onError: (error) => errors.push(error),
  });
  let scans = 0;
  while (activeSessions.get(last.key) === undefined) {
    assert.ok(++scans <= count / SCAN_LIMIT + 2, 'the runnable session starves');
    await failover.scan();
    // The sessions of this scan are decided before the next one.
    await untilDriven();
  }
  assert.ok(errors.length >= count);
  if (maxUnrunnable >= count) {
    // Each session was loaded once, and later scans do not look at it.
    const countReads = (): number =>
      calls.filter((name) => name === 'snapshot' || name === 'find').length;
    while ((await store.find(last.key))?.inboxPending === true) await new Promise(setImmediate);
    const reads = countReads();
    for (let n = 0; n < 5; n++) await failover.scan();
    await untilDriven();
    assert.deepEqual([errors.length, countReads() - reads], [count, 0]);
    assert.equal(activeSessions.size, count + 1);
  } else assert.ok(activeSessions.size <= maxUnrunnable + 1);
  for (const key of keys.slice(0, 3)) {
    const row = (await store.find(key)) ?? assert.fail();
    assert.notEqual(row.owner, owner);
  }
  failover.stop();
  await dispatcher.close();
  await activeSessions.closeAll();
  await committer.close();
  await store.leave(owner);
}
