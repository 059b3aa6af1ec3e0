import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { createSession, sessionKey } from '../../src/store/contract/sample-steps.ts';
import type { StoreListener } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

const talker = agent({ name: 'talker', model: new ScriptedModel(() => ({ text: 'Hello.' })) });

describe('notifications of PostgreSQL', () => {
  let server: PostgresServer | undefined;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  it('name the sessions of a commit, and whose turn it is to read an input', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const { url } = server;
    const schema = `notices_${process.pid}_${schemas++}`;
    const stores: PostgresStore[] = [];
    for (let n = 0; n < 3; n++) stores.push(await openPostgresStore(url, { schema }));
    const [owner, sender, other] = stores;
    assert.ok(owner && sender && other);
    try {
      await owner.join('one');
      await createSession(owner, 'one', 'x');
      const seen = [owner, other].map((store) => followNotices(store, 3));
      const key = sessionKey('x');
      await sender.inject(key, { place: 'session.input', value: 1 }, 'k');
      await sender.inject(key, { place: 'session.input', value: 1 }, 'k');
      await sender.touch(key);
      await sender.evict(key);
      assert.deepEqual(await Promise.all(seen), [
        ['x input', 'x elsewhere', 'x input'],
        // Without an owner, every process may run it.
        ['x elsewhere', 'x elsewhere', 'x input'],
      ]);
      // Without an owner, every process may read it.
      const unowned = [owner, other].map((store) => followNotices(store, 1));
      await sender.inject(key, { place: 'session.input', value: 2 }, 'l');
      assert.deepEqual(await Promise.all(unowned), [['x input'], ['x input']]);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  });

  it('cost a process no statement for the turns of sessions that it neither hosts nor reads', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const schema = `notices_${process.pid}_${schemas++}`;
    const statements: string[] = [];
    const workingStore = await openPostgresStore(server.url, { schema });
    const idleStore = await openPostgresStore(server.url, {
      schema,
      onStatement: (text) => statements.push(text),
    });
    const working = await openRuntime({ agents: [talker], store: workingStore });
    const idle = await openRuntime({ agents: [talker], store: idleStore });
    const done = new AbortController();
    try {
      const ids = ['read1', 'read2', 'read3'];
      for (const id of ids) await (await working.session(id)).ask('Hi.');
      const [session, marker] = [await working.session('x'), await working.session('marker')];
      const mark = async (): Promise<void> => {
        const marked = followNotices(idleStore, (notice) => notice === 'marker elsewhere');
        await workingStore.touch(marker.key);
        await marked;
      };
      // The notices of what has happened so far have arrived.
      await mark();
      const readers = await Promise.all(ids.map(async (id) => readLog(idle, id, done.signal)));
      statements.length = 0;
      for (let turn = 0; turn < 3; turn++) await session.ask('Hi.');
      await mark();
      await new Promise(setImmediate);
      // A process looks for work at an interval, with this statement.
      const others = statements.filter((text) => !text.includes('WITH RECURSIVE'));
      assert.deepEqual(others, []);
      // The readers were waiting all the time: they see the next turn of their session.
      for (const { id, next } of readers) {
        await (await working.session(id)).ask('Hi.');
        assert.equal((await next).done, false);
      }
    } finally {
      done.abort();
      await Promise.all([working.close(), idle.close()]);
      await Promise.all([workingStore.close(), idleStore.close()]);
    }
  });
});

/** Reads the log of a session up to its end, and waits for more. */
async function readLog(
  runtime: Runtime,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly next: Promise<IteratorResult<unknown>> }> {
  const session = await runtime.session(id);
  const { lastSeq } = await session.status();
  const events = session.events(lastSeq - 1, { signal })[Symbol.asyncIterator]();
  await events.next();
  const next = events.next();
  await new Promise(setImmediate);
  return { id, next };
}

/** Resolves with the sessions and origins of the next notices: so many, or up to one that is accepted. */
async function followNotices(
  store: PostgresStore,
  until: number | ((notice: string) => boolean),
): Promise<readonly string[]> {
  const seen: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const listener: StoreListener = (changed, origin) => {
    if (changed === 'any') {
      reject(new Error('The notice names no session.'));
      return;
    }
    for (const { sessionId: name } of changed) {
      const notice = `${name} ${origin}`;
      seen.push(notice);
      if (typeof until === 'number' ? seen.length === until : until(notice)) resolve();
    }
  };
  const unsubscribe = store.subscribe(listener);
  // A subscription does not keep the process alive, so the test does.
  const alive = setInterval(() => undefined, 1000);
  try {
    await promise;
    return seen;
  } finally {
    clearInterval(alive);
    unsubscribe();
  }
}
