import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Client } from 'petrichor/client';
import { openManagedRuntime } from 'petrichor/managed';
import { createServer, registerAgents } from 'petrichor/server';
import { MemoryStore } from 'petrichor/store';
import { agents, tools } from './agents.ts';
import { demoModel } from './demo-model.ts';

/** The server that `petrichor serve` starts, without a port. */
async function withServer(run: (client: Client) => Promise<void>): Promise<void> {
  const store = new MemoryStore();
  const runtime = await openManagedRuntime({
    store,
    resolver: async () => demoModel(),
    builtIns: async (name) => tools.filter((tool) => tool.name === name),
  });
  await registerAgents({ runtime, store }, 'default', agents);
  const server = await createServer({ runtime, keys: 'off' });
  try {
    await run(createClient({ fetch: async (...args) => server.fetch(new Request(...args)) }));
  } finally {
    await server.close();
    await runtime[Symbol.asyncDispose]();
  }
}

test('the status of an order is looked up', () =>
  withServer(async (client) => {
    const { id } = await client.sessions.create({ agent: 'agent_order-desk' });
    assert.equal(await client.sessions.ask(id, 'Where is A-1'), 'That is all.');
    const results: unknown[] = [];
    for await (const event of client.sessions.listEvents(id))
      if (event.type === 'agent.tool_result') results.push(event.content);
    assert.match(JSON.stringify(results), /shipped/);
  }));

test('an order is canceled after a person approved it', () =>
  withServer(async (client) => {
    const { id } = await client.sessions.create({ agent: 'agent_order-desk' });
    await assert.rejects(client.sessions.ask(id, 'Cancel A-2', { idempotencyKey: 'cancel' }), {
      name: 'TurnNotCompletedError',
    });
    for await (const event of client.sessions.listEvents(id))
      if (event.type === 'agent.tool_use') await client.sessions.approve(id, event.id);
    const answer = await client.sessions.ask(id, 'Cancel A-2', { idempotencyKey: 'cancel' });
    assert.equal(answer, 'That is all.');
  }));
