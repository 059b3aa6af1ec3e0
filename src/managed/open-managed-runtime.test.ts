import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScriptedModel } from '../models/index.ts';
import type { ModelScript } from '../models/index.ts';
import { openManagedRuntime } from './open-managed-runtime.ts';
import type { ManagedRuntimeOptions } from './managed-runtime-options.ts';
import type { ManagedRuntime, ManagedSession } from './interface/managed-runtime.ts';
import type { SessionEvent } from './interface/session-event.ts';
import type { UserEvent } from './interface/user-event.ts';

const definition = { name: 'Helper', model: 'gemini-2.5-flash' };
const owner = { userId: 'ada' };

async function opened(
  script: ModelScript,
  more: ManagedRuntimeOptions = {},
): Promise<ManagedRuntime> {
  const model = new ScriptedModel(script);
  return openManagedRuntime({ resolver: async () => model, ...more });
}

async function started(runtime: ManagedRuntime, more: object = {}): Promise<ManagedSession> {
  const { id } = await runtime.create({ ...definition, ...more });
  return runtime.startSession(id, owner);
}

async function until(
  runtime: ManagedRuntime,
  id: string,
  type: SessionEvent['type'],
  from = 0,
): Promise<readonly SessionEvent[]> {
  const seen: SessionEvent[] = [];
  for await (const event of runtime.streamEvents(id, from)) {
    seen.push(event);
    if (event.type === type) break;
  }
  return seen;
}

const userMessage = (text: string): UserEvent => ({
  type: 'user.message',
  content: [{ type: 'text', text }],
});

test('a message is answered, and the session is idle', async () => {
  await using runtime = await opened([{ text: 'Hello!' }]);
  const { id, status } = await started(runtime);
  assert.equal(status, 'queued');
  await runtime.sendEvent(id, userMessage('Hi'));
  assert.deepEqual(await until(runtime, id, 'status.idle'), [
    { seq: 2, type: 'status.running' },
    { seq: 3, type: 'agent.message', content: [{ type: 'text', text: 'Hello!' }] },
    {
      seq: 4,
      type: 'status.idle',
      stop_reason: { reason: 'end_turn' },
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    },
  ]);
  assert.equal(await runtime.status(id), 'idle');
});

test('a batch sends events in one transaction, checked against the session as it was first read', async () => {
  await using runtime = await opened([{ text: 'Hello!' }]);
  const session = await started(runtime);
  const batch = runtime.eventBatch();
  assert.deepEqual(await batch.getSession(session.id), session);
  await assert.rejects(batch.getSession('none'), /none/);
  await runtime.archive(session.id);
  const { invocationId } = await batch.add(session.id, userMessage('Hi'), { dedupeKey: 'k' });
  assert.ok(invocationId !== undefined);
  assert.ok((await batch.submit()).ok);
  await assert.rejects(runtime.eventBatch().add(session.id, userMessage('Hi')), (error: Error) =>
    error.message.includes('archived'),
  );
});
