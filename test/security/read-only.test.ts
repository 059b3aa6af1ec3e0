import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { systemClock } from '../../src/net/index.ts';
import { PROTOCOL_NAMES } from '../../src/server/protocol-list.ts';
import { createServer, listen, Metrics } from '../../src/server/index.ts';
import { openServerFixture, userMessage } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';
import { RecordingStore } from './recording-store.ts';
import { pathWith, rawRequest, servedRoutes } from './served-routes.ts';

/** GET routes that change something. */
const CHANGING_READS = ['GET /v1/environments/{environment_id}/work/poll'];

test('a read-only server refuses every route that could write, whatever the key, and writes nothing itself', async () => {
  const store = new RecordingStore();
  await using on = await openServerFixture(scriptedChat, { store });
  const { beta } = on.client;
  const { id: agent_id } = await beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const box = await beta.environments.create({ name: 'Box', config: { type: 'self_hosted' } });
  const { id: environment_id } = await beta.environments.create({ name: 'Cloud' });
  const session = { agent: agent_id, environment_id };
  const { id: session_id } = await beta.sessions.create(session);
  await beta.sessions.events.send(session_id, { events: [userMessage('think')] });
  while ((await beta.sessions.retrieve(session_id)).status !== 'idle');
  const ids = { agent_id, environment_id: box.id, session_id };

  await using runtime = await openManagedRuntime({
    resolver: async () => new ScriptedModel(scriptedChat),
    store,
  });
  const keys = ['full', 'operator', 'metrics', 'console', 'import'] as const;
  const tokens = await Promise.all(
    keys.map(
      async (type) => (await on.server.keys.create('default', type, { scope: { type } })).token,
    ),
  );
  const before = await store.fingerprint();
  const server = await createServer({
    runtime,
    store,
    keys: 'off',
    readOnly: true,
    protocols: PROTOCOL_NAMES,
    metrics: new Metrics(systemClock),
    proofs: { module: 'agents.ts' },
    limits: { createsPerMinute: 100_000, requestsPerMinute: 100_000 },
  });
  await using listening = await listen(server, { port: 0, keysRequired: false });
  const routes = await servedRoutes(listening.url);
  const refused: string[] = [];
  for (const { name, method, path } of routes) {
    for (const token of tokens) {
      const reply = await rawRequest(listening.url, method, {
        path: pathWith(path, ids),
        headers: { 'x-api-key': token, 'content-type': 'application/json' },
        body: method === 'POST' ? '{}' : '',
      });
      // 501: the route exists to refuse.
      assert.ok(
        reply.status < 500 || reply.status === 501,
        `${name} ${reply.status} ${reply.text}`,
      );
      const isReadOnly = reply.text.includes('This server is read-only');
      if (isReadOnly && !refused.includes(name)) refused.push(name);
      // A key of another scope is refused for its scope.
      if (method !== 'GET')
        assert.match(
          reply.text,
          /This server is read-only|A key with the scope \w+ does not allow/,
          name,
        );
    }
  }
  assert.deepEqual(
    refused,
    routes
      .filter(({ name, method }) => method !== 'GET' || CHANGING_READS.includes(name))
      .map(({ name }) => name),
  );
  assert.deepEqual(await store.fingerprint(), before);
});
