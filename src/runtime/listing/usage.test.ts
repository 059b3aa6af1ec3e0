import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool, sequential } from '../../agents/index.ts';
import { InvalidInputError, UnknownFieldError } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session/session.ts';

const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };

const answering = (name: string): ScriptedModel =>
  Object.assign(new ScriptedModel(() => ({ text: 'Yes.', usage })), { name });

async function say(session: Session, text = 'Hi'): Promise<void> {
  for await (const _ of session.send(text));
}

async function readTotal(runtime: Runtime): Promise<readonly (number | undefined)[]> {
  const [total] = await runtime.usage();
  return [total?.calls, total?.tokens.totalTokens];
}

test('usage() sums the answers of all sessions by agent, user, UTC day and model', async () => {
  // One second before midnight.
  const clock = new SimulatedClock(Date.UTC(2026, 0, 1, 23, 59, 59));
  const agents = [
    agent({ name: 'one', model: answering('small') }),
    agent({ name: 'two', model: answering('large') }),
  ];
  await using runtime = await openRuntime({ agents, clock });
  assert.deepEqual(await runtime.usage(), []);
  await say(await runtime.session('a', { user: 'ada', agent: 'one' }));
  await say(await runtime.session('b', { user: 'bob', agent: 'two' }));
  clock.advance(1000);
  await say(await runtime.session('b', { user: 'bob' }));
  assert.deepEqual(await runtime.usage({ by: ['agent', 'user', 'day', 'model'] }), [
    { agent: 'one', user: 'ada', day: '2026-01-01', model: 'small', calls: 1, tokens: usage },
    { agent: 'two', user: 'bob', day: '2026-01-01', model: 'large', calls: 1, tokens: usage },
    { agent: 'two', user: 'bob', day: '2026-01-02', model: 'large', calls: 1, tokens: usage },
  ]);
  const days = await runtime.usage({ by: ['day'], user: 'bob', from: '2026-01-02' });
  assert.deepEqual(days, [{ day: '2026-01-02', calls: 1, tokens: usage }]);
  await assert.rejects(runtime.usage({ from: 'yesterday' }), InvalidInputError);
  await assert.rejects(runtime.usage({ since: '2026-01-01' } as object), UnknownFieldError);
});

test('a fork, a rewind and a deletion do not change what was used', async () => {
  await using runtime = await openRuntime({
    agents: [agent({ name: 'one', model: answering('small') })],
  });
  const session = await runtime.session('a');
  const turn = session.send('First');
  for await (const _ of turn);
  await say(session, 'Second');
  assert.deepEqual(await readTotal(runtime), [2, 22]);
  const fork = await session.fork({ id: 'b' });
  assert.deepEqual(await readTotal(runtime), [2, 22]);
  await say(fork, 'Third');
  assert.deepEqual(await readTotal(runtime), [3, 33]);
  await session.rewind({ beforeInvocationId: turn.invocationId });
  await runtime.delete('a');
  assert.deepEqual(await readTotal(runtime), [3, 33]);
});

test('a called agent counts under its own name, and each agent of a session under its own model', async () => {
  const clerk = agent({ name: 'clerk', model: answering('clerk-model') });
  const boss = agent({
    name: 'boss',
    tools: [agentTool(clerk)],
    model: new ScriptedModel([
      { toolCalls: [{ name: 'clerk', args: { request: 'Go' } }], usage },
      { text: 'Done.', usage },
    ]),
  });
  const team = sequential({
    name: 'team',
    subAgents: [
      agent({ name: 'first', model: answering('first-model') }),
      agent({ name: 'second', model: answering('second-model') }),
    ],
  });
  await using runtime = await openRuntime({ agents: [boss, team] });
  await say(await runtime.session('a', { agent: 'boss' }));
  await say(await runtime.session('b', { agent: 'team' }));
  const rows = await runtime.usage({ by: ['agent', 'model'] });
  assert.deepEqual(
    rows.map((row) => `${row.agent} ${row.model} ${row.calls}`),
    ['boss scripted 2', 'clerk clerk-model 1', 'team first-model 1', 'team second-model 1'],
  );
});

test('an attempt that failed does not count, and an answer without usage counts as a call', async () => {
  const clock = new SimulatedClock(0);
  const model = new ScriptedModel([{ text: 'Yes.', error: { kind: 'overloaded', attempts: 1 } }]);
  await using runtime = await openRuntime({ agents: [agent({ name: 'one', model })], clock });
  const session = await runtime.session('a');
  // The next attempt waits for its time.
  const ticking = setInterval(() => clock.advance(60_000), 5);
  await say(session);
  clearInterval(ticking);
  assert.deepEqual(await runtime.usage({ by: ['model'] }), [
    { model: 'scripted', calls: 1, tokens: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } },
  ]);
});
