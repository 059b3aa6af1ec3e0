import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../../agents/index.ts';
import { ScriptedModel } from '../../../models/index.ts';
import { openRuntime } from '../../../runtime/index.ts';
import { tool } from '../../../tools/index.ts';
import { createServer } from '../../create-server.ts';

test('a message that is sent twice counts once, and an ended turn has no stream', async () => {
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
  assert.equal((await post({ messages: [] })).status, 400);
  await server.close();
});

test('regenerate answers the last message again from the state before it, once for each request', async () => {
  let calls = 0;
  const count = tool({
    name: 'count',
    description: 'Counts.',
    execute: (_, { state }) => {
      const next = Number(state.get('count') ?? 0) + 1;
      state.set('count', next);
      return { next };
    },
  });
  const risky = tool({
    name: 'risky',
    description: 'Waits.',
    needsApproval: true,
    execute: () => ({ ok: true }),
  });
  const model = new ScriptedModel(({ contents }) => {
    const last = contents.at(-1)?.parts[0];
    if (last !== undefined && 'functionResponse' in last)
      return { text: `${contents.length} contents, answer ${++calls}.` };
    const isRisky = last !== undefined && 'text' in last && last.text === 'risky';
    return { toolCalls: [{ name: isRisky ? 'risky' : 'count', args: {} }] };
  });
  const host = agent({ name: 'host', model, tools: [count, risky] });
  await using runtime = await openRuntime({ agents: [host] });
  const server = await createServer({ runtime, keys: 'off', protocols: ['ai-sdk'] });
  const send = async (
    ids: readonly string[],
    {
      trigger = 'submit-message',
      key,
      text = 'Hi',
    }: { trigger?: string; key?: string; text?: string } = {},
  ): Promise<{ readonly status: number; readonly text: string }> => {
    const messages = ids.map((id) => ({ id, role: 'user', parts: [{ type: 'text', text }] }));
    const response = await server.fetch(
      new Request('http://localhost/ai-sdk/agent_host', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
        body: JSON.stringify({ id: 'chat-1', messages, trigger }),
      }),
    );
    const stream = await response.text();
    const deltas = [...stream.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta);
    return { status: response.status, text: response.ok ? deltas.join('') : stream };
  };
  const again = (key: string): { trigger: string; key: string } => ({
    trigger: 'regenerate-message',
    key,
  });
  assert.equal((await send(['m1'], again('k0'))).status, 400);
  assert.equal((await send(['m1'])).text, '3 contents, answer 1.');
  assert.equal((await send(['m1'], again('k1'))).text, '3 contents, answer 2.');
  // The same request again, and the message again, have the answer that counts.
  assert.equal((await send(['m1'], again('k1'))).text, '3 contents, answer 2.');
  assert.equal((await send(['m1'])).text, '3 contents, answer 2.');
  assert.equal((await send(['m1'], again('k2'))).text, '3 contents, answer 3.');
  const session = await runtime.find('chat-1', { user: 'default' });
  const { places } = (await session?.markingAt()) ?? assert.fail();
  const state = places['state'];
  assert.deepEqual(state?.kind === 'map' && state.entries, { count: 1 });
  assert.equal((await send(['m1', 'm2'])).text, '7 contents, answer 4.');
  assert.match((await send(['m1'], again('k3'))).text, /last message of the session/);
  await send(['m2', 'm3'], { text: 'risky' });
  assert.equal((await send(['m3'], { ...again('k4'), text: 'risky' })).status, 400);
  assert.equal(calls, 4);
  await server.close();
});
