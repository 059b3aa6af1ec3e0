import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRuntime } from 'petrichor';
import { createClient } from 'petrichor/client';
import { createServer } from 'petrichor/server';
import { demoShop, shopAgent } from './agent.ts';
import { demoModel } from './demo-model.ts';

test('over HTTP, an item is ordered once, after it was approved', async () => {
  const shop = demoShop();
  const runtime = await openRuntime({ agents: [shopAgent(demoModel(), shop)] });
  const server = await createServer({ runtime, keys: 'off' });
  // The server is a function of requests: no port is needed.
  const client = createClient({ fetch: async (...args) => server.fetch(new Request(...args)) });

  const { id } = await client.sessions.create({ agent: 'agent_shop' });
  await client.sessions.send(id, 'How much is a teapot');
  let approvals = 0;
  for await (const event of client.sessions.events(id, { after: 0 })) {
    if (event.type !== 'session.status_idle') continue;
    if (event.stop_reason.type !== 'requires_action') break;
    assert.deepEqual([...shop.orders.values()], []);
    for (const call of event.stop_reason.event_ids) {
      approvals++;
      await client.sessions.approve(id, call);
    }
  }
  assert.equal(approvals, 1);
  assert.deepEqual([...shop.orders.values()], ['teapot']);
  await server.close();
  await runtime.close();
});
