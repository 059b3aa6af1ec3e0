/** A test over HTTP: a server on a free port, in the process of the test. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'petrichor/client';
import { openManagedRuntime } from 'petrichor/managed';
import { createServer, listen } from 'petrichor/server';
import { MemoryStore } from 'petrichor/store';
import { ScriptedModel } from 'petrichor/testing';

test('a client gets the answer of an agent', async () => {
  const store = new MemoryStore();
  await using runtime = await openManagedRuntime({
    store,
    resolver: async () => new ScriptedModel([{ text: 'Good day!' }]),
  });
  const server = await createServer({ runtime, store, keys: 'off' });
  await using listening = await listen(server, { port: 0, keysRequired: false });

  const client = createClient({ baseUrl: listening.url });
  const { id: agent } = await client.agents.create({ name: 'Greeter', model: 'gpt-5' });
  const session = await client.sessions.create({ agent });
  await client.sessions.send(session.id, 'Hello!');
  const answers: string[] = [];
  for await (const event of client.sessions.events(session.id)) {
    if (event.type === 'agent.message') answers.push(JSON.stringify(event.content));
    if (event.type === 'session.status_idle') break;
  }
  assert.deepEqual(answers, ['[{"type":"text","text":"Good day!"}]']);
  await server.close();
});

test('a client calls the server without a socket', async () => {
  const store = new MemoryStore();
  await using runtime = await openManagedRuntime({ store });
  const server = await createServer({ runtime, store, keys: 'off' });
  const client = createClient({
    fetch: (input, init) => server.fetch(new Request(input, init)),
  });
  const { id } = await client.agents.create({ name: 'Greeter', model: 'gpt-5' });
  assert.match(id, /^agent_/);
  await server.close();
});
