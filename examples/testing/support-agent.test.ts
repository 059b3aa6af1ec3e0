/** Tests of an agent whose model and service are parameters: a scripted model, and a fake service behind the real tool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, openRuntime, tool } from 'petrichor';
import type { Agent, LogEvent, Model, PartialEvent, Tool } from 'petrichor';
import { recordingObserver } from 'petrichor/runtime';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

// The agent under test: its model and its services are parameters.
interface Orders {
  status(id: string): Promise<string>;
}

const orderStatus = (orders: Orders): Tool =>
  tool({
    name: 'order_status',
    description: 'Returns the status of an order',
    parameters: z.object({ id: z.string() }),
    readOnly: true,
    execute: async ({ id }) => ({ status: await orders.status(id) }),
  });

const supportAgent = (model: Model, orders: Orders): Agent =>
  agent({ name: 'support', model, tools: [orderStatus(orders)], instruction: 'Be brief.' });

async function collect(
  events: AsyncIterable<LogEvent | PartialEvent>,
): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of events) if ('seq' in event) log.push(event);
  return log;
}

test('looks up the order before it answers', async () => {
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'order_status', args: { id: 'A-1' } }] },
    { text: 'Your order has shipped.' },
  ]);
  const orders: Orders = { status: async (id) => (id === 'A-1' ? 'shipped' : 'unknown') };
  await using runtime = await openRuntime({ agents: [supportAgent(model, orders)] });
  const session = await runtime.session('test');

  const log = await collect(session.send('Where is order A-1?'));

  const result = log.find((event) => event.type === 'tool.result');
  assert.deepEqual(result?.response, { status: 'shipped' });
  assert.equal(log.at(-1)?.type, 'turn.ended');
});

test('reports a failure of the order service to the model', async () => {
  // A script can be a function of the request: here, it repeats the result that it received.
  const model = new ScriptedModel(({ contents }) => {
    const [part] = contents.at(-1)?.parts ?? [];
    return part !== undefined && 'functionResponse' in part
      ? { text: JSON.stringify(part.functionResponse.response) }
      : { toolCalls: [{ name: 'order_status', args: { id: 'A-1' } }] };
  });
  const orders: Orders = { status: () => Promise.reject(new Error('orders are down')) };
  await using runtime = await openRuntime({ agents: [supportAgent(model, orders)] });
  const session = await runtime.session('test');

  const log = await collect(session.send('Where is order A-1?'));

  const result = log.find((event) => event.type === 'tool.result');
  assert.equal(result?.outcome, 'error');
  assert.deepEqual(result.response, {
    error: { code: 'tool_failed', message: 'orders are down' },
  });
  assert.equal(log.at(-1)?.type, 'turn.ended');
});

test('sends the instruction and the tool to the model', async () => {
  const model = new ScriptedModel([{ text: 'Hello.' }]);
  const orders: Orders = { status: async () => 'shipped' };
  await using runtime = await openRuntime({ agents: [supportAgent(model, orders)] });
  const session = await runtime.session('test');

  await collect(session.send('Hello!'));

  const [request] = model.requests;
  assert.equal(request?.instruction, 'Be brief.');
  assert.deepEqual(
    request.tools.map(({ name }) => name),
    ['order_status'],
  );
});

test('starts the calls of one answer together', async () => {
  const model = new ScriptedModel([
    {
      toolCalls: [
        { name: 'order_status', args: { id: 'A-1' } },
        { name: 'order_status', args: { id: 'A-2' } },
      ],
    },
    { text: 'Both have shipped.' },
  ]);
  const orders: Orders = { status: async () => 'shipped' };
  const recorder = recordingObserver();
  await using runtime = await openRuntime({
    agents: [supportAgent(model, orders)],
    observers: [recorder.observe],
  });
  const session = await runtime.session('test');

  await collect(session.send('Where are orders A-1 and A-2?'));

  // Each item of `committed` is one transaction: here, the one that starts the first tool starts both.
  const step = recorder.committed.find(({ records }) =>
    records.some((record) => record.kind === 'started' && record.t === 'tool.run'),
  );
  const started = step?.records.filter(
    (record) => record.kind === 'started' && record.t === 'tool.run',
  );
  assert.equal(started?.length, 2);
});
