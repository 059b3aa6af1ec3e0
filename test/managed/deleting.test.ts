import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { SimulatedProcess, KillableStore } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';
import { userMessage } from './managed-fixture.ts';

const model = new ScriptedModel(() => ({ text: 'Yes.' }));

async function openRuntime(
  store: MemoryStore,
  hostProcess: SimulatedProcess,
): Promise<ManagedRuntime> {
  return openManagedRuntime({
    store: new KillableStore(store, hostProcess),
    resolver: async () => model,
  });
}

test('an interrupted delete leaves the session unchanged or gone, and a second delete completes it', async () => {
  let interruptions = 0;
  for (const point of ['before-write', 'after-write'] as const satisfies CrashPoint['point'][]) {
    for (let nth = 1; ; nth++) {
      const store = new MemoryStore();
      const hostProcess = new SimulatedProcess();
      const runtime = await openRuntime(store, hostProcess);
      const agent = await runtime.create({ name: 'gone', model: 'gemini-2.5-flash' });
      const { id } = await runtime.startSession(agent.id, { userId: 'ada' });
      await runtime.sendEvent(id, userMessage('Hi'));
      for await (const { type } of runtime.streamLog(id, 0)) if (type === 'turn.ended') break;
      hostProcess.crashAt({ point, nth });
      const deleting = runtime.deleteSession(id).then(() => 'deleted');
      deleting.catch(() => {});
      const wasInterrupted = (await Promise.race([deleting, hostProcess.over])) !== 'deleted';
      for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
      const next = new SimulatedProcess();
      await using second = await openRuntime(store, next);
      if (wasInterrupted) {
        interruptions++;
        const [listed] = (await second.listSessions()).data;
        // The session is either unchanged or gone.
        if (listed === undefined)
          await assert.rejects(second.status(id), { code: 'session_not_found' });
        else assert.equal(listed.lastSeq, 4);
        await second.deleteSession(id);
      }
      assert.deepEqual(await store.list({}), []);
      assert.equal(await second.deleteSession(id), false);
      await assert.rejects(second.sendEvent(id, userMessage('Hi')), { code: 'session_not_found' });
      hostProcess.discard();
      if (!wasInterrupted) break;
    }
  }
  assert.ok(interruptions >= 6, `${interruptions} cuts`);
});

test('an interrupted delete also removes external data of the session and its called agents when it is completed', async () => {
  let interruptions = 0;
  for (const point of ['before-write', 'after-write'] as const satisfies CrashPoint['point'][]) {
    for (let nth = 1; ; nth++) {
      const store = new MemoryStore();
      const hostProcess = new SimulatedProcess();
      const folders = new Set<string>();
      const open = async (currentProcess: SimulatedProcess): Promise<ManagedRuntime> =>
        openManagedRuntime({
          store: new KillableStore(store, currentProcess),
          resolver: async () => delegatingModel,
          onDelete: async ({ sessionId }) => {
            // A dead process deletes nothing.
            if (currentProcess.isOver) await currentProcess.never();
            folders.delete(sessionId);
          },
        });
      const runtime = await open(hostProcess);
      const poet = await runtime.create({ name: 'Poet', model: 'gemini-2.5-flash' });
      const lead = await runtime.create({
        name: 'Lead',
        model: 'gemini-2.5-flash',
        agents: [{ agent_id: poet.id }],
      });
      const { id } = await runtime.startSession(lead.id, { userId: 'ada' });
      await runtime.sendEvent(id, userMessage('Ask'));
      for await (const { type } of runtime.streamLog(id, 0)) if (type === 'turn.ended') break;
      const [thread] = await runtime.threads(id);
      assert.ok(thread);
      for (const folder of [id, thread.id]) folders.add(folder);
      hostProcess.crashAt({ point, nth });
      const deleting = runtime.deleteSession(id).then(() => 'deleted');
      deleting.catch(() => {});
      const wasInterrupted = (await Promise.race([deleting, hostProcess.over])) !== 'deleted';
      for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
      // The next process finishes a deletion that was started.
      await using second = await open(new SimulatedProcess());
      if (wasInterrupted && (await second.listSessions()).data.length > 0) {
        assert.equal(folders.size, 2);
        await second.deleteSession(id);
      }
      assert.deepEqual([...folders], []);
      assert.deepEqual(await store.list({}), []);
      hostProcess.discard();
      if (!wasInterrupted) break;
      interruptions++;
    }
  }
  assert.ok(interruptions >= 6, `${interruptions} cuts`);
});

const delegatingModel = new ScriptedModel(({ contents }) =>
  contents.length === 1 && JSON.stringify(contents).includes('Ask')
    ? { toolCalls: [{ name: 'Poet', args: { request: 'a line' } }] }
    : { text: 'Here.' },
);
