import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';

/** An agent that calls another one; both call tools endlessly. */
function endless(hold: (signal: AbortSignal) => Promise<void>) {
  const again = tool({
    name: 'again',
    description: 'Again.',
    readOnly: true,
    execute: async (_, { signal }) => {
      await hold(signal);
      return 'ok';
    },
  });
  const inner = new ScriptedModel(() => ({ toolCalls: [{ name: 'again', args: {} }] }));
  const outer = new ScriptedModel(() => ({
    toolCalls: [{ name: 'clerk', args: { request: 'Go' } }],
  }));
  const clerk = agent({ name: 'clerk', model: inner, tools: [again] });
  return {
    boss: agent({ name: 'boss', model: outer, tools: [agentTool(clerk)], maxModelCalls: 5 }),
    calls: () => inner.requests.length + outer.requests.length,
  };
}

async function ended(runtime: Runtime): Promise<readonly [string, string]> {
  const session = await runtime.session('s');
  let code = '';
  for await (const event of session.events()) {
    if (event.type === 'error') ({ code } = event);
    if (event.type === 'turn.ended') return [code, event.stopReason];
  }
  return [code, ''];
}

test('model calls of a dead process count, also those of called agents', async () => {
  const store = new MemoryStore();
  let holds = 0;
  const reached = Promise.withResolvers<void>();
  // The tool call of the third answer never ends in the first process.
  const first = endless(async (signal) => {
    if (++holds < 2) return;
    reached.resolve();
    await new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
  });
  await using before = await openRuntime({ agents: [first.boss], store });
  await (await before.session('s')).send('Go', { runConfig: { maxLlmCalls: 5 } }).accepted;
  await reached.promise;
  assert.equal(first.calls(), 3);
  // The process dies: its owner is gone and none of its writes succeed.
  for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  const second = endless(async () => {});
  await using after = await openRuntime({ agents: [second.boss], store });
  assert.deepEqual(await ended(after), ['llm_calls_limit_exceeded', 'budget_reached']);
  assert.equal(second.calls(), 2);
});

test('the model call limit of an agent ends the turn with its stop reason', async () => {
  const model = new ScriptedModel(() => ({ toolCalls: [{ name: 'again', args: {} }] }));
  const again = tool({ name: 'again', description: 'Again.', execute: () => 'ok' });
  const loud = agent({ name: 'loud', model, tools: [again], maxModelCalls: 3 });
  await using runtime = await openRuntime({ agents: [loud] });
  await (await runtime.session('s')).send('Go').accepted;
  assert.deepEqual(await ended(runtime), ['model_calls_spent', 'budget_reached']);
  assert.equal(model.requests.length, 3);
});

test("the model calls of called agents count for the caller's limit", async () => {
  const { boss, calls } = endless(async () => {});
  await using runtime = await openRuntime({ agents: [boss] });
  await (await runtime.session('s')).send('Go').accepted;
  assert.deepEqual(await ended(runtime), ['model_calls_spent', 'budget_reached']);
  assert.equal(calls(), 5);
});

test('the limit of an agent applies to the agents that its called agents call', async () => {
  const { boss, calls } = endless(async () => {});
  const outermost = new ScriptedModel(() => ({
    toolCalls: [{ name: 'boss', args: { request: 'Go' } }],
  }));
  const owner = agent({
    name: 'owner',
    model: outermost,
    tools: [agentTool(boss)],
    maxModelCalls: 4,
  });
  await using runtime = await openRuntime({ agents: [owner] });
  await (await runtime.session('s')).send('Go').accepted;
  assert.deepEqual(await ended(runtime), ['model_calls_spent', 'budget_reached']);
  assert.equal(calls() + outermost.requests.length, 4);
});
