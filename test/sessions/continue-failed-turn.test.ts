import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, custom, loop, sequential } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import type { ModelContext, ModelRequest, ModelResponse } from '../../src/models/index.ts';
import { ModelError, ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';

/** A model that fails as long as it is down. */
class SwitchedModel {
  readonly name: string = 'switched';
  isDown: boolean = true;
  readonly #up: ScriptedModel = new ScriptedModel(() => ({ text: 'Two.' }));

  async generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse> {
    if (this.isDown)
      throw new ModelError({ model: this.name, kind: 'overloaded', message: 'It is down.' });
    return this.#up.generate(request, context);
  }
}

function second(model: SwitchedModel, name = 'two'): Agent {
  return agent({ name, model, modelAttempts: 1 });
}

/** A sequence whose first agent counts its model calls, and whose second one fails while the model is down. */
function steps(model: SwitchedModel, name?: string): { agent: Agent; counted: ScriptedModel } {
  const counted = new ScriptedModel([{ text: 'One.' }]);
  return {
    counted,
    agent: sequential({
      name: 'steps',
      subAgents: [agent({ name: 'one', model: counted }), second(model, name)],
    }),
  };
}

/** Resumes a failed session, and lists what happens until its turn has ended. */
async function continueTurn(session: Session): Promise<readonly string[]> {
  const { lastSeq } = await session.status();
  await session.resume();
  const seen: string[] = [];
  for await (const event of session.events(lastSeq)) {
    if (event.type === 'turn.started') seen.push(event.type);
    if (event.type === 'agent.message') seen.push(event.author);
    if (event.type !== 'turn.ended') continue;
    seen.push(`${event.type} ${event.stopReason}`);
    break;
  }
  return seen;
}

test('a resume continues a sequence at the agent whose model failed', async () => {
  const model = new SwitchedModel();
  const { agent: root, counted } = steps(model);
  await using runtime = await openRuntime({ agents: [root], store: new MemoryStore() });
  const session = await runtime.session('s');
  const turn = session.send('Go.');
  await assert.rejects(turn.text(), { code: 'turn_not_completed' });
  assert.equal((await session.status()).status, 'failed');
  // The model is still down: the turn fails again, and can be continued again.
  await continueTurn(session);
  assert.equal((await session.status()).status, 'failed');
  model.isDown = false;
  assert.deepEqual(await continueTurn(session), ['turn.started', 'two', 'turn.ended end_turn']);
  assert.equal(counted.requests.length, 1);
  assert.equal((await session.status()).status, 'idle');
});

test('a message after a failure starts a new turn, and the work of the failed one is gone', async () => {
  const model = new SwitchedModel();
  const { agent: root, counted } = steps(model);
  await using runtime = await openRuntime({ agents: [root], store: new MemoryStore() });
  const session = await runtime.session('s');
  await assert.rejects(session.send('Go.').text(), { code: 'turn_not_completed' });
  model.isDown = false;
  const turn = session.send('Again.');
  for await (const _ of turn);
  assert.ok(counted.requests.length >= 1);
  await assert.rejects(session.resume(), { code: 'illegal_transition', status: 'idle' });
});

test('a turn in which a custom agent was at work is not continued, and the refusal says why', async () => {
  const model = new SwitchedModel();
  const root = custom({
    name: 'boss',
    subAgents: [second(model)],
    async *run(context) {
      yield* context.run('two');
    },
  });
  await using runtime = await openRuntime({ agents: [root], store: new MemoryStore() });
  const session = await runtime.session('s');
  await assert.rejects(session.send('Go.').text(), { code: 'turn_not_completed' });
  await assert.rejects(session.resume(), {
    code: 'illegal_transition',
    status: 'failed',
    message:
      'Session "s" is failed: a resume is not possible. The turn that failed cannot be continued: a custom agent, a workflow or an added net was at work in it. Send a message: it starts a new turn.',
  });
  // A refused resume changes nothing.
  assert.equal((await session.status()).status, 'failed');
  await assert.rejects(session.resume(), { code: 'illegal_transition', status: 'failed' });
  model.isDown = false;
  assert.equal(await session.ask('Again.'), 'Two.');
});

test('a turn is not continued by agents that have changed, and nothing is lost', async () => {
  const store = new MemoryStore();
  const model = new SwitchedModel();
  {
    await using runtime = await openRuntime({ agents: [steps(model).agent], store });
    const session = await runtime.session('s');
    await assert.rejects(session.send('Go.').text(), { code: 'turn_not_completed' });
  }
  model.isDown = false;
  {
    await using runtime = await openRuntime({ agents: [steps(model, 'three').agent], store });
    const session = await runtime.session('s');
    await assert.rejects(session.resume(), {
      code: 'illegal_transition',
      message: /its agents have changed: "two\/\S+" is gone\. Send a message/,
    });
  }
  await using runtime = await openRuntime({ agents: [steps(model).agent], store });
  const session = await runtime.session('s');
  assert.deepEqual(await continueTurn(session), ['turn.started', 'two', 'turn.ended end_turn']);
});

test('a limit that is lower than when the turn failed holds for the rest of it', async () => {
  const store = new MemoryStore();
  const model = new SwitchedModel();
  const drafts = (maxIterations: number, reaskBudget: number): Agent =>
    loop({
      name: 'drafts',
      maxIterations,
      subAgents: [agent({ name: 'two', model, modelAttempts: 1, reaskBudget })],
    });
  {
    await using runtime = await openRuntime({ agents: [drafts(9, 9)], store });
    const session = await runtime.session('s');
    await assert.rejects(session.send('Go.').text(), { code: 'turn_not_completed' });
  }
  model.isDown = false;
  await using runtime = await openRuntime({ agents: [drafts(3, 3)], store });
  const session = await runtime.session('s');
  assert.deepEqual(await continueTurn(session), [
    'turn.started',
    'two',
    'two',
    'two',
    'turn.ended budget_reached',
  ]);
});
