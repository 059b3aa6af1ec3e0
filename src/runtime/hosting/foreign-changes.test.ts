import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore, type StoreListener } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';

/** A store that does not name what changed, as SQLite for other processes. */
class UnnamedChangesStore extends MemoryStore {
  reads = 0;
  readonly #listeners = new Set<StoreListener>();

  override subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  override read(...args: Parameters<MemoryStore['read']>): ReturnType<MemoryStore['read']> {
    this.reads++;
    return super.read(...args);
  }

  notifyOfUnknownChange(): void {
    for (const listener of this.#listeners) listener('any', 'elsewhere');
  }
}

const echo = agent({ name: 'echo', model: new ScriptedModel(() => ({ text: 'Hello.' })) });

/** Reads the turns of a session one after the other. */
function turnReader(session: Session): { readonly next: () => Promise<readonly string[]> } {
  const events = session.events(0)[Symbol.asyncIterator]();
  return {
    next: async () => {
      const types: string[] = [];
      while (types.at(-1) !== 'turn.ended') {
        const { value, done } = await events.next();
        if (done === true) break;
        if ('seq' in value) types.push(value.type);
      }
      return types;
    },
  };
}

test('readers of a session that is hosted here do not read the store when another process changes something', async () => {
  const store = new UnnamedChangesStore();
  await using runtime = await openRuntime({ agents: [echo], store });
  const session = await runtime.session('x');
  const reader = turnReader(session);
  await session.ask('Hi');
  const first = await reader.next();
  const waiting = reader.next();
  await new Promise(setImmediate);
  store.reads = 0;
  store.notifyOfUnknownChange();
  await new Promise(setImmediate);
  assert.equal(store.reads, 0);
  await session.ask('Hi');
  assert.deepEqual(await waiting, first);
});

test('readers of a session that another process took read its events from the store', async () => {
  const store = new UnnamedChangesStore();
  await using one = await openRuntime({ agents: [echo], store });
  await using two = await openRuntime({ agents: [echo], store });
  const session = await one.session('x');
  const reader = turnReader(session);
  await session.ask('Hi');
  const first = await reader.next();
  const { key } = await session.status();
  await store.evict(key);
  const waiting = reader.next();
  await (await two.session('x')).ask('Hi');
  store.notifyOfUnknownChange();
  assert.deepEqual(await waiting, first);
});
