import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openManagedRuntime } from '../open-managed-runtime.ts';

test('a message that is sent with and without an output schema under one key runs once', async () => {
  const requests: unknown[] = [];
  const model = new ScriptedModel((request) => {
    requests.push(request.config?.responseSchema);
    return { text: '{"n":1}' };
  });
  const store = new MemoryStore();
  await using managed = await openManagedRuntime({ store, agents: [agent({ name: 'a', model })] });
  const output_schema = {
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
  };
  const content = [{ type: 'text', text: 'Hi' }] as const;
  const plain = { type: 'user.message', content } as const;
  const withOutput = { ...plain, output_schema } as const;
  for (const [first, second] of [
    [plain, withOutput],
    [withOutput, plain],
  ] as const) {
    requests.length = 0;
    const [definition] = (await managed.listAgents()).data;
    assert.ok(definition);
    const { id } = await managed.startSession(definition.id, { userId: 'ana' });
    const sent = await managed.sendEvent(id, first, { dedupeKey: 'k' });
    const again = await managed.sendEvent(id, second, { dedupeKey: 'k' });
    assert.deepEqual(again, { ...sent, duplicate: true });
    for await (const event of managed.streamLog(id, 0)) if (event.type === 'turn.ended') break;
    assert.equal(requests.length, 1);
    assert.equal(requests[0] !== undefined, first === withOutput);
  }
});
