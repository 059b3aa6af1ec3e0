import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createClient } from '../../src/client/index.ts';
import type { Model } from '../../src/models/index.ts';
import { openServerFixture, userMessage } from './server-fixture.ts';

/** A model that tells when it is asked, and answers when it may. */
function createSlowModel(): {
  readonly asked: PromiseWithResolvers<void>;
  readonly mayAnswer: PromiseWithResolvers<void>;
  readonly resolver: () => Promise<Model>;
} {
  const asked = Promise.withResolvers<void>();
  const mayAnswer = Promise.withResolvers<void>();
  const model: Model = {
    name: 'slow',
    generate: async () => {
      asked.resolve();
      await mayAnswer.promise;
      return { content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'stop' };
    },
  };
  return { asked, mayAnswer, resolver: async () => model };
}

test('a draining server is alive and not ready, accepts no change, and its streams go on', async () => {
  const { asked, mayAnswer, resolver } = createSlowModel();
  await using served = await openServerFixture(() => ({ text: 'Hello.' }), { resolver });
  const { client, url, server } = served;
  const fetchStatus = async (path: string, method = 'GET'): Promise<number> =>
    (await fetch(`${url}${path}`, { method })).status;
  assert.deepEqual(
    [await fetchStatus('/health/ready'), await fetchStatus('/health/live')],
    [200, 200],
  );
  const agent = await client.beta.agents.create({ name: 'a', model: 'gpt-5' });
  const environment = await client.beta.environments.create({ name: 'here' });
  const session = await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
  });
  const events = await client.beta.sessions.events.stream(session.id);
  await client.beta.sessions.events.send(session.id, { events: [userMessage('Hi.')] });
  await asked.promise;
  const drained = server.drain();
  const refused = await fetch(`${url}/v1/sessions/${session.id}/events`, { method: 'POST' });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  assert.match(await refused.text(), /another server/);
  assert.deepEqual(
    [
      await fetchStatus('/health/ready'),
      await fetchStatus('/health/live'),
      await fetchStatus(`/v1/sessions/${session.id}`),
    ],
    [503, 200, 200],
  );
  mayAnswer.resolve();
  await drained;
  let text = '';
  for await (const event of events)
    if (event.type === 'agent.message') {
      for (const block of event.content) if (block.type === 'text') text += block.text;
      break;
    }
  assert.equal(text, 'Hello.');
});

test('an operator drains a server over HTTP: the running call ends, and the sessions are given away', async () => {
  const { asked, mayAnswer, resolver } = createSlowModel();
  await using served = await openServerFixture(() => ({ text: 'Hello.' }), {
    resolver,
    server: { keys: 'required' },
  });
  const { url, server, store } = served;
  const { token } = await server.keys.create('blue', 'test');
  const { token: operator } = await server.keys.create('ops', 'test', {
    scope: { type: 'operator' },
  });
  const drain = async (method: string, key: string): Promise<readonly unknown[]> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const reply = await fetch(`${url}/v1/operator/drain`, { method, headers });
    return [reply.status, ((await reply.json()) as { readonly status?: unknown }).status];
  };
  const client = createClient({ baseUrl: url, apiKey: token, retries: 0 });
  const { id: agent } = await client.agents.create({ name: 'a', model: 'gpt-5' });
  const { id } = await client.sessions.create({ agent });
  await client.sessions.send(id, [userMessage('Hi.')]);
  await asked.promise;
  assert.deepEqual(await drain('POST', token), [403, undefined]);
  assert.deepEqual(await drain('GET', operator), [200, 'serving']);
  assert.deepEqual(await drain('POST', operator), [200, 'draining']);
  await assert.rejects(client.sessions.create({ agent }), { status: 503 });
  mayAnswer.resolve();
  while ((await drain('GET', operator))[1] !== 'drained') await setImmediate();
  const [row] = await store.list({ parent: null });
  assert.deepEqual([row?.owner, row?.inFlight], [null, 0]);
});
