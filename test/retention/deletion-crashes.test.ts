import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { applyRetention } from '../../src/runtime/index.ts';
import type { RetentionResult } from '../../src/runtime/index.ts';
import {
  removeUnchangedSession,
  SESSION_INDEX,
  WorkspaceIndex,
} from '../../src/server/internal.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { KillableStore, SimulatedProcess } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';
import { userMessage } from '../managed/managed-fixture.ts';

const DAY = 86_400_000;
const POLICY = { rules: [{ deleteAfterDays: 30 }] };
const model = new ScriptedModel(() => ({ text: 'Yes.' }));

/** A process of a server that applies the policy. */
class Host {
  readonly process = new SimulatedProcess();
  readonly store: KillableStore;
  readonly #folders: Set<string>;

  constructor(store: MemoryStore, folders: Set<string>) {
    this.store = new KillableStore(store, this.process);
    this.#folders = folders;
  }

  async open(): Promise<ManagedRuntime> {
    return openManagedRuntime({
      store: this.store,
      resolver: async () => model,
      onDelete: async ({ sessionId }) => {
        // A dead process deletes nothing.
        if (this.process.isOver) await this.process.never();
        this.#folders.delete(sessionId);
      },
    });
  }

  async apply(runtime: ManagedRuntime): Promise<readonly RetentionResult['outcome'][]> {
    const sessions = new WorkspaceIndex(this.store, SESSION_INDEX);
    const outcomes: RetentionResult['outcome'][] = [];
    const results = applyRetention(this.store, POLICY, {
      clock: new SimulatedClock(Date.now() + 60 * DAY),
      remove: async (key, condition) =>
        removeUnchangedSession({ runtime, sessions }, key, condition),
    });
    for await (const { outcome } of results) outcomes.push(outcome);
    return outcomes;
  }
}

for (const isRecorded of [true, false])
  test(`a deletion that is interrupted leaves the session whole or gone, and is ended: ${isRecorded ? 'started over HTTP' : 'made by a program'}`, async () => {
    let interruptions = 0;
    for (const point of ['before-write', 'after-write'] as const satisfies CrashPoint['point'][]) {
      for (let nth = 1; ; nth++) {
        const store = new MemoryStore();
        const folders = new Set<string>();
        const host = new Host(store, folders);
        const runtime = await host.open();
        const { id: agentId } = await runtime.create({ name: 'old', model: 'gemini-2.5-flash' });
        const started = await runtime.startSession(agentId, { userId: 'ada' });
        let { id } = started;
        if (!isRecorded) {
          const made = await runtime.runtime.session('made', {
            user: 'ada',
            agent: (await store.find(toKey(id)))?.agent ?? assert.fail(),
          });
          ({ id } = made);
          await runtime.deleteSession(started.id);
          await runtime.updateSession({ id, userId: 'ada' }, { title: 'Labels' });
        }
        await runtime.sendEvent({ id, userId: 'ada' }, userMessage('Hi'));
        for await (const { type } of runtime.streamLog({ id, userId: 'ada' }, 0))
          if (type === 'turn.ended') break;
        await new WorkspaceIndex(store, SESSION_INDEX).put('ada', id, null);
        folders.add(id);
        host.process.crashAt({ point, nth });
        const applying = host.apply(runtime).then(() => 'applied');
        applying.catch(() => {});
        const wasInterrupted = (await Promise.race([applying, host.process.over])) !== 'applied';
        for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);

        const next = new Host(store, folders);
        await using second = await next.open();
        const row = await store.find(toKey(id));
        if (row === undefined) {
          assert.deepEqual(await next.apply(second), []);
        } else {
          assert.ok(wasInterrupted);
          const [listed] = (await second.listSessions()).data;
          assert.equal(listed?.lastSeq, 4);
          assert.equal(folders.size, 1);
          assert.deepEqual(await next.apply(second), ['deleted']);
        }
        assert.deepEqual([...folders], []);
        assert.deepEqual(await store.list({}), []);
        for (const kind of [
          SESSION_INDEX,
          'session',
          'session-labels',
          'session-deletion',
          'session-deletion-without-record',
        ])
          assert.deepEqual(await store.documents({ kind }), [], kind);
        host.process.discard();
        if (!wasInterrupted) break;
        interruptions++;
      }
    }
    assert.ok(interruptions >= 4, `${interruptions} cuts`);
  });

function toKey(sessionId: string): Parameters<MemoryStore['find']>[0] {
  return { appName: 'managed', userId: 'ada', sessionId };
}
