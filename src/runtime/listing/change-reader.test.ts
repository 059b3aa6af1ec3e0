import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { SessionChangePage, SessionChangeQuery } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import { ChangeReader } from './change-reader.ts';
import { followSessionChanges } from './session-changes.ts';
import type { SessionChangeEvent } from './session-changes.ts';

const STREAMS = 20;

/** Counts how often its changes are read. */
class CountingStore extends MemoryStore {
  reads = 0;

  override async changes(query: SessionChangeQuery): Promise<SessionChangePage> {
    this.reads++;
    return super.changes(query);
  }
}

test('streams at one position share a read, and changes during its pause come with the next one', async () => {
  const store = new CountingStore();
  await using runtime = await openRuntime({
    agents: [agent({ name: 'echo', model: new ScriptedModel(() => ({ text: 'Yes.' })) })],
    store,
  });
  const pauses: number[] = [];
  const begun = Promise.withResolvers<undefined>();
  const end = Promise.withResolvers<undefined>();
  const sleep = async (ms: number): Promise<void> => {
    pauses.push(ms);
    begun.resolve(undefined);
    await end.promise;
  };
  const reader = new ChangeReader({
    store,
    app: runtime.app,
    clock: new SimulatedClock(0),
    onWaiting: () => undefined,
    timer: { now: () => 0, sleep },
  });
  const unsubscribe = store.subscribe(() => reader.notify());
  const leaving = new AbortController();
  const streams = Array.from({ length: STREAMS }, (_, index) =>
    followSessionChanges({ changeReader: reader }, index === 0 ? { signal: leaving.signal } : {}),
  );
  const nextOfAll = async (): Promise<readonly (SessionChangeEvent | undefined)[]> =>
    (await Promise.all(streams.map(async (stream) => stream.next()))).map(
      ({ value }) => value ?? undefined,
    );
  assert.ok((await nextOfAll()).every((event) => event?.type === 'current'));

  let before = store.reads;
  const first = nextOfAll();
  await runtime.session('a');
  const rows = new Set(await first);
  assert.equal(store.reads - before, 1, 'the first change after a quiet time is read at once');
  assert.equal(rows.size, 1, 'all streams get the same row');

  before = store.reads;
  const second = nextOfAll();
  await runtime.session('b');
  await begun.promise;
  await runtime.session('c');
  leaving.abort();
  assert.equal(store.reads, before);
  end.resolve(undefined);
  const [gone, ...others] = await second;
  assert.equal(gone, undefined);
  const third = await Promise.all(streams.slice(1).map(async (stream) => stream.next()));
  const ids = [...others, ...third.map(({ value }) => value ?? undefined)].map((event) =>
    event === undefined || event.type === 'current' ? event?.type : event.key.sessionId,
  );
  assert.deepEqual(ids, [...others.map(() => 'b'), ...others.map(() => 'c')]);
  assert.equal(store.reads - before, 1);
  assert.deepEqual(pauses, [STREAMS * 5]);

  const last = Promise.all(streams.map(async (stream) => stream.next()));
  reader.close();
  assert.ok((await last).every(({ done }) => done === true));
  unsubscribe();
});
