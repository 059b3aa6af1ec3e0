import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, openRuntime, tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

const now = tool({
  name: 'now',
  description: 'Returns the time',
  readOnly: true,
  execute: () => '09:30', // a fake: the test decides the result
});

test('the agent looks at the clock before it answers', async () => {
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'now' }] }, // first answer of the model
    { text: 'Good morning!' }, // second answer, after the result
  ]);
  const greeter = agent({ name: 'greeter', model, tools: [now] });
  await using runtime = await openRuntime({ agents: [greeter] }); // a store in memory
  const session = await runtime.session('test');

  const types: string[] = [];
  for await (const event of session.send('Hello!')) if ('seq' in event) types.push(event.type);

  assert.deepEqual(types, [
    'user.message',
    'turn.started',
    'agent.message',
    'tool.call',
    'tool.result',
    'agent.message',
    'turn.ended',
  ]);
});
