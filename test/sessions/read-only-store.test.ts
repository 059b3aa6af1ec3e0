import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, openRuntime, tool } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { MemoryStore, StoreUnavailableError } from '../../src/store/index.ts';
import { readOnlyStore } from '../../src/store/internal.ts';
import type { CommittedStep, Store } from '../../src/store/index.ts';
import type { SessionKey } from '../../src/core/index.ts';
import type { InspectedRecord } from '../../src/runtime/index.ts';

const book = tool({
  name: 'book',
  description: 'Books a seat.',
  needsApproval: true,
  execute: () => 'booked',
});

const isReadOnly = (error: unknown): boolean =>
  error instanceof StoreUnavailableError &&
  error.reason === 'readonly' &&
  error.message.includes('the-store') &&
  !error.message.includes('secret');

test('a runtime on a read-only store shows sessions, runs none of them, and changes nothing', async () => {
  const store = new MemoryStore();
  let calls = 0;
  const travel = (): Agent =>
    agent({
      name: 'travel',
      tools: [book],
      model: new ScriptedModel(() => {
        calls++;
        return { toolCalls: [{ name: 'book' }] };
      }),
    });
  const first = await openRuntime({ agents: [travel()], store, app: 'managed' });
  await (await first.session('demo', { user: 'ada' })).ask('Go').catch(() => undefined);
  await first.close();
  // An input that the next owner would take.
  const key = { appName: 'managed', userId: 'ada', sessionId: 'demo' };
  await store.inject(key, { place: 'user.in', value: { text: 'More' } }, 'more');
  const before = await readAll(store, key);
  const callsBefore = calls;

  const runtime = await openManagedRuntime({
    agents: [travel()],
    store: readOnlyStore(store, 'postgres://user:secret@the-store/data'),
  });
  const ref = { id: 'demo', userId: 'ada' };
  assert.equal((await runtime.getSession(ref)).id, 'demo');
  const inspection = await runtime.inspect(ref);
  const records: InspectedRecord[] = [];
  for await (const record of inspection.records()) records.push(record);
  assert.ok(records.length > 5);
  assert.ok((await inspection.net()).transitions.length > 10);
  assert.equal((await runtime.pendingCalls({})).calls.length, 1);
  // A runtime records its agents. They are kept beside the store.
  assert.equal((await runtime.getAgent('agent_travel')).version, 1);
  const message = { type: 'user.message', content: [{ type: 'text', text: 'Hi' }] } as const;
  await assert.rejects(runtime.sendEvent(ref, message), isReadOnly);
  await assert.rejects(runtime.deleteSession(ref), isReadOnly);
  await runtime.close();
  assert.equal(calls, callsBefore);
  assert.deepEqual(await readAll(store, key), before);
});

async function readAll(store: Store, key: SessionKey): Promise<unknown> {
  const steps: CommittedStep[] = [];
  for await (const step of store.steps(key, 0)) steps.push(step);
  const documents = await Promise.all(
    ['agent', 'agent-version'].map(async (kind) => store.documents({ kind })),
  );
  return { row: await store.find(key), inbox: await store.inbox(key, 0), steps, documents };
}
