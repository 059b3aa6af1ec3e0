import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScriptedModel } from '../../models/index.ts';
import type { Net } from '../../net/index.ts';
import { tool } from '../../tools/index.ts';
import { prove } from '../../verify/index.ts';
import type { PropertyResult } from '../../verify/index.ts';
import { agentProof } from './agent-proof.ts';
import type { AgentProofLimits } from './agent-proof.ts';
import { agent } from '../llm/define-agent.ts';
import type { AgentDefinition } from '../llm/define-agent.ts';

const definition: AgentDefinition = {
  name: 'assistant',
  model: new ScriptedModel([]),
  tools: [tool({ name: 'look', description: 'Looks.' })],
};

async function proveProperty(
  changes: Partial<AgentDefinition>,
  name: string,
  limits: AgentProofLimits = { atOnce: 1, faults: 0 },
): Promise<PropertyResult> {
  const { properties, bounds } = agentProof(agent({ ...definition, ...changes }), limits);
  const property = properties[name];
  assert.ok(property !== undefined, name);
  const [result] = (
    await prove(agent({ ...definition, ...changes }).compiled, { properties: [property], bounds })
  ).results;
  assert.ok(result !== undefined);
  return result;
}

/** Returns the net with one of its transitions changed. */
function mutant(
  of: Net,
  transition: string,
  change: (t: Net['transitions'][number]) => Net['transitions'][number],
): Net {
  assert.ok(of.transitions.some(({ name }) => name === transition));
  return { ...of, transitions: of.transitions.map((t) => (t.name === transition ? change(t) : t)) };
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  assert.ok(key in record);
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

const allProved = ['proved', 'proved', 'proved', 'proved', 'proved'];

/** The verdicts of all properties of the unchanged agent, in one run. */
async function proveAll(limits: AgentProofLimits): Promise<readonly string[]> {
  const whole = agent(definition);
  const { properties, bounds } = agentProof(whole, limits);
  const { results } = await prove(whole.compiled, {
    properties: Object.values(properties),
    bounds,
  });
  return results.map(({ verdict }) => verdict);
}

// The long tests also close owners.
test('every property of an agent is proved when a transition can fail', async () => {
  assert.deepEqual(await proveAll({ atOnce: 1 }), allProved);
});

test('a prompt builder that takes no permit is refuted, because two turns run', async () => {
  const subnets: AgentDefinition['subnets'] = ({ turnStart: promptBuilder }) => ({
    turnStart: mutant(promptBuilder, 'turn.start', (t) => ({
      ...t,
      take: without(t.take, 'permit'),
    })),
  });
  const { verdict, trace } = await proveProperty({ subnets }, 'oneTurn');
  assert.equal(verdict, 'refuted');
  assert.ok(trace?.steps.some(({ transition }) => transition === 'turn.start'));
});

test('a re-ask that takes no budget is refuted, because it happens too often', async () => {
  const subnets: AgentDefinition['subnets'] = ({ toolDispatch }) => ({
    toolDispatch: mutant(toolDispatch, 'turn.continue', (t) => ({
      ...t,
      take: without(t.take, 'budget'),
    })),
  });
  const { verdict, trace } = await proveProperty({ subnets }, 'reaskBudgetIsBounded');
  assert.equal(verdict, 'refuted');
  assert.equal(
    trace?.steps.filter(({ kind, transition }) => kind === 'started' && transition === 'model.call')
      .length,
    3,
  );
});

test('an agent that does not return its permit is refuted, because it deadlocks', async () => {
  const subnets: AgentDefinition['subnets'] = ({ turnControl }) => ({
    turnControl: mutant(turnControl, 'turn.end', (t) =>
      t.give.give === 'allOf'
        ? { ...t, give: { ...t.give, outputs: without(t.give.outputs, 'permit') } }
        : t,
    ),
  });
  const { verdict, trace } = await proveProperty({ subnets }, 'deadlockFree');
  assert.equal(verdict, 'refuted');
  assert.equal(trace?.steps.at(-1)?.transition, 'turn.end');
});

test('a budget smaller than the bound is proved', async () => {
  const { property, verdict } = await proveProperty({ reaskBudget: 1 }, 'reaskBudgetIsBounded', {
    atOnce: 2,
    faults: 0,
  });
  assert.deepEqual(
    [verdict, property.name],
    ['proved', 're-ask budget: model.call at most 2 times per token of turn.permit'],
  );
});

test('an agent with an identity may rest with its prompt format', async () => {
  assert.equal((await proveProperty({ identity: true }, 'deadlockFree')).verdict, 'proved');
});
