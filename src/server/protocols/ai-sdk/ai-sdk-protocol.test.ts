import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../../agents/index.ts';
import { ScriptedModel } from '../../../models/index.ts';
import { openRuntime } from '../../../runtime/index.ts';
import { createServer } from '../../create-server.ts';

test('a message that is sent twice counts once, an ended turn has no stream, and regenerate is refused', async () => {
  const model = new ScriptedModel(() => ({ text: 'Hello.' }));
  await using runtime = await openRuntime({ agents: [agent({ name: 'host', model })] });
  const server = await createServer({ runtime, keys: 'off', protocols: ['ai-sdk'] });
  const post = async (more: object = {}): Promise<Response> =>
    server.fetch(
      new Request('http://localhost/ai-sdk/agent_host', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'chat-1',
          messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
          ...more,
        }),
      }),
    );
  const first = await post();
  assert.equal(first.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  assert.match(await first.text(), /data: \[DONE\]\n\n$/);
  assert.match(await (await post()).text(), /"delta":"Hello\."/);
  assert.equal(model.requests.length, 1);
  const read = async (id: string): Promise<number> =>
    (await server.fetch(new Request(`http://localhost/ai-sdk/agent_host/${id}/stream`))).status;
  assert.deepEqual([await read('chat-1'), await read('none')], [204, 204]);
  assert.equal((await post({ trigger: 'regenerate-message' })).status, 400);
  assert.equal((await post({ messages: [] })).status, 400);
  await server.close();
});
