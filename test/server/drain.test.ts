import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServerFixture, userMessage } from './server-fixture.ts';

test('a draining server is alive and not ready, accepts no change, and its streams go on', async () => {
  const asked = Promise.withResolvers<void>();
  const mayAnswer = Promise.withResolvers<void>();
  await using served = await openServerFixture(() => ({ text: 'Hello.' }), {
    resolver: async () => ({
      name: 'slow',
      generate: async () => {
        asked.resolve();
        await mayAnswer.promise;
        return { content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'stop' };
      },
    }),
  });
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
