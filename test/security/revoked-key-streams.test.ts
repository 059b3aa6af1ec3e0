import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';

const KEEP_ALIVE_MS = 15_000;

test('an open stream ends when its key was revoked, and the stream of another key goes on', async () => {
  const clock = new SimulatedClock();
  const assistant = agent({ name: 'assistant', model: new ScriptedModel(() => ({ text: 'Hi.' })) });
  await using runtime = await openRuntime({ agents: [assistant], clock });
  await runtime.session('chat', { user: 'blue' });
  const server = await createServer({ runtime, keys: 'required', clock });
  const [revoked, valid] = [
    await server.keys.create('blue', 'revoked'),
    await server.keys.create('blue', 'valid'),
  ];
  const open = async (token: string): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
    const url = 'http://localhost/v1/sessions/chat/events/stream';
    const headers = { authorization: `Bearer ${token}` };
    const response = await server.fetch(new Request(url, { headers }));
    assert.equal(response.status, 200);
    const reader = response.body?.getReader() ?? assert.fail('The response has no body.');
    assert.match(new TextDecoder().decode((await reader.read()).value), /open/);
    return reader;
  };
  const [first, second] = [await open(revoked.token), await open(valid.token)];
  await server.keys.revoke(revoked.key.id);
  const [ended, silent] = [first.read(), second.read()];
  clock.advance(KEEP_ALIVE_MS);
  assert.equal((await ended).done, true);
  assert.match(new TextDecoder().decode((await silent).value), /keep-alive/);
  await second.cancel();
  await server.close();
});
