import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { applyRetention, SessionArchive } from '../../src/runtime/index.ts';
import type { RetentionResult } from '../../src/runtime/index.ts';
import {
  createExporter,
  removeUnchangedSession,
  SESSION_INDEX,
  WorkspaceIndex,
} from '../../src/server/internal.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { FileObjectStore } from '../../src/tools/index.ts';
import type { StoredObject } from '../../src/tools/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { KillableStore, SimulatedProcess } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';
import { userMessage } from '../managed/managed-fixture.ts';

const DAY = 86_400_000;
const POLICY = { rules: [{ archiveAfterDays: 30 }] };

/** A folder whose process can crash before and after each upload, and before a copy is read back. */
class KillableObjects extends FileObjectStore {
  readonly #process: SimulatedProcess;

  constructor(root: string, process: SimulatedProcess) {
    super(root);
    this.#process = process;
  }

  override async create(path: string, object: StoredObject): Promise<boolean> {
    await this.#process.pass('before-write');
    const isNew = await super.create(path, object);
    await this.#process.pass('after-write');
    return isNew;
  }

  override async read(path: string): Promise<StoredObject | undefined> {
    await this.#process.pass('before-write');
    return super.read(path);
  }
}

/** A process of a server that applies the policy. */
class Host {
  readonly process = new SimulatedProcess();
  readonly store: KillableStore;
  readonly archive: SessionArchive;

  constructor(store: MemoryStore, root: string) {
    this.store = new KillableStore(store, this.process);
    this.archive = new SessionArchive(new KillableObjects(root, this.process));
  }

  async open(): Promise<ManagedRuntime & AsyncDisposable> {
    return openManagedRuntime({
      store: this.store,
      resolver: async () => new ScriptedModel(() => ({ text: 'Yes.' })),
    });
  }

  async apply(runtime: ManagedRuntime): Promise<readonly RetentionResult['outcome'][]> {
    const { store, archive } = this;
    const clock = new SimulatedClock(Date.now() + 60 * DAY);
    const sessions = new WorkspaceIndex(store, SESSION_INDEX);
    const exporter = createExporter({ runtime, store, clock });
    const outcomes: RetentionResult['outcome'][] = [];
    const results = applyRetention(store, POLICY, {
      clock,
      archive,
      exportSession: (key) => exporter(key, {}),
      remove: async (key, condition) =>
        removeUnchangedSession({ runtime, sessions }, key, condition),
    });
    for await (const { outcome } of results) outcomes.push(outcome);
    return outcomes;
  }
}

test('a process that is killed while it archives a session loses nothing, and the next one ends it', async () => {
  const folder = new CommandFolder();
  let cuts = 0;
  let ending = 0;
  for (const point of ['before-write', 'after-write'] as const satisfies CrashPoint['point'][]) {
    for (let nth = 1; ; nth++) {
      const store = new MemoryStore();
      const root = join(folder.path, `${point}-${nth}`);
      const host = new Host(store, root);
      const runtime = await host.open();
      const { id: agentId } = await runtime.create({ name: 'old', model: 'gemini-2.5-flash' });
      const { id } = await runtime.startSession(agentId, { userId: 'ada' });
      await runtime.updateSession({ id, userId: 'ada' }, { title: 'Trip' });
      await runtime.sendEvent({ id, userId: 'ada' }, userMessage('Hi'));
      for await (const { type } of runtime.streamLog({ id, userId: 'ada' }, 0))
        if (type === 'turn.ended') break;
      await new WorkspaceIndex(store, SESSION_INDEX).put('ada', id, null);
      const key = { appName: 'managed', userId: 'ada', sessionId: id };
      const events = await readEvents(store, key);
      host.process.crashAt({ point, nth });
      const applying = host.apply(runtime).then(() => 'applied');
      applying.catch(() => {});
      const wasInterrupted = (await Promise.race([applying, host.process.over])) !== 'applied';
      for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);

      const next = new Host(store, root);
      const isGone = (await store.find(key)) === undefined;
      if (isGone && (await store.documents({ kind: 'session-deletion' })).length > 0) {
        // The next runtime would delete what was imported.
        await assert.rejects(next.archive.restore(key, store), { code: 'session_deleting' });
        ending++;
      }
      await using second = await next.open();
      if ((await store.find(key)) === undefined) assert.deepEqual(await next.apply(second), []);
      else {
        assert.ok(wasInterrupted);
        assert.deepEqual(await readEvents(store, key), events);
        assert.deepEqual(await next.apply(second), ['archived']);
      }
      assert.deepEqual(await store.list({}), []);
      for (const kind of [SESSION_INDEX, 'session', 'session-deletion'])
        assert.deepEqual(await store.documents({ kind }), [], kind);
      assert.equal((await next.archive.copies(key)).length, 1);
      await next.archive.restore(key, store);
      assert.deepEqual(await readEvents(store, key), events);
      const { title } = await second.getSession({ id, userId: 'ada' });
      assert.equal(title, 'Trip');
      assert.deepEqual((await store.documents({ kind: SESSION_INDEX })).length, 1);
      host.process.discard();
      if (!wasInterrupted) break;
      cuts++;
    }
  }
  assert.ok(cuts >= 7 && ending >= 1, `${cuts} cuts, ${ending} in a deletion`);
});

async function readEvents(
  store: MemoryStore,
  key: Parameters<MemoryStore['read']>[0],
): Promise<readonly unknown[]> {
  const events: unknown[] = [];
  for await (const event of store.read(key)) events.push(event);
  return events;
}
