import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  START,
  agent,
  custom,
  loop,
  parallel,
  sequential,
  workflow,
} from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { tool } from '../../src/tools/index.ts';
import { noOpCallbacks } from './no-op-callbacks.ts';

function withModel(name: string, subAgents: readonly Agent[] = []): Agent {
  return agent({
    name,
    model: new ScriptedModel([]),
    fallbackModels: [new ScriptedModel([])],
    tools: [tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })],
    callbacks: noOpCallbacks,
    subAgents,
  });
}

const agents: readonly Agent[] = [
  withModel('alone'),
  withModel('root', [withModel('billing'), withModel('refunds')]),
  sequential({ name: 'steps', callbacks: {}, subAgents: [withModel('one'), withModel('two')] }),
  parallel({ name: 'both', subAgents: [withModel('left'), withModel('right')] }),
  loop({ name: 'again', subAgents: [withModel('draft')], maxIterations: 2 }),
  custom({
    name: 'own',
    subAgents: [withModel('helper')],
    // oxlint-disable-next-line require-yield -- the net is read, not run
    async *run() {
      return undefined;
    },
  }),
  workflow({
    name: 'flow',
    nodes: [{ kind: 'function', name: 'plan', run: () => 'planned' }],
    edges: [{ from: START, to: 'plan' }],
  }),
];

for (const one of agents) {
  test(`no effect of the agent "${one.name}" starts while the session is paused`, () => {
    const effects = one.compiled.transitions.filter(({ spec }) => spec.kind === 'effect');
    assert.ok(effects.length > 0);
    const starts = [...effects, ...one.compiled.transitions.filter((t) => t.name === 'turn.start')];
    const unheld = starts.filter(({ unless }) =>
      unless.every(({ name }) => name !== 'session.paused'),
    );
    assert.deepEqual(
      unheld.map(({ name }) => name),
      [],
    );
  });
}

test('a session of any agent is paused, resumed, and archived by its inputs', async () => {
  const model = new ScriptedModel(({ contents }) => ({ text: `answer ${contents.length}` }));
  await using runtime = await openRuntime({ agents: [agent({ name: 'a', model })] });
  const session = await runtime.session('s');
  await session.inject('pause.in', null, { dedupeKey: 'pause' });
  for await (const { type } of session.events()) if (type === 'session.paused') break;
  assert.equal((await session.status()).status, 'paused');
  const turn = session.send('hello');
  await turn.accepted;
  assert.equal(model.requests.length, 0);
  await session.inject('resume.in', null, { dedupeKey: 'resume' });
  for await (const { type } of turn) if (type === 'turn.ended') break;
  assert.equal(model.requests.length, 1);
  assert.equal((await session.status()).status, 'idle');
  await session.inject('archive.in', null, { dedupeKey: 'archive' });
  for await (const { type } of session.events()) if (type === 'session.archived') break;
  assert.equal((await session.status()).status, 'archived');
});
