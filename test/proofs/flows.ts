/**
 * The proofs of agents with callbacks and of agents that consist of agents: with one message, one interrupt, one answer
 * from outside, one call at a time, one re-ask and one transfer.
 */
import assert from 'node:assert/strict';
import {
  agent,
  agentProof as promisesOf,
  custom,
  loop,
  parallel,
  sequential,
  targetPlace,
  toolBatch,
  workflow,
} from '../../src/agents/index.ts';
import type { Agent, AgentDefinition } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { arcPlace } from '../../src/net/language/arcs.ts';
import type { Net, Transition } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import { mutualExclusion } from '../../src/verify/index.ts';
import type { Property } from '../../src/verify/index.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';

const look = tool({ name: 'look', description: 'Looks.' });

/** An agent with a model, a tool that runs or is pending, and one re-ask. */
function speaker(name: string, more: Partial<AgentDefinition> = {}): Agent {
  return agent({ name, model: new ScriptedModel([]), tools: [look], reaskBudget: 1, ...more });
}

/** The smallest agent, with one effect. */
function worker(name: string, subAgents: readonly Agent[] = []): Agent {
  return custom({ name, subAgents, maxYields: 1, async *run() {} });
}

interface Kind {
  readonly agent: Agent;
  /** The maximum number of tokens of one output. Default: 1. */
  readonly atOnce?: number;
  /** The properties that are proved in addition to those of every agent. */
  readonly more?: Readonly<Record<string, Property>>;
  /** By defect: the changed net, and the property that it violates. */
  readonly mutants: Readonly<Record<string, readonly [Mutation, property: string]>>;
}

type Mutation = Readonly<Record<string, (t: Transition) => Transition>>;

const notTaking =
  (...inputs: readonly string[]) =>
  (t: Transition): Transition => {
    assert.ok(
      inputs.every((input) => input in t.take),
      `${t.name} takes ${Object.keys(t.take).join(', ')}`,
    );
    const remaining = Object.entries(t.take).filter(([key]) => !inputs.includes(key));
    return { ...t, take: Object.fromEntries(remaining) };
  };
const notGiving =
  (output: string) =>
  (t: Transition): Transition => {
    const { [output]: removed, ...outputs } = listOutputs(t);
    assert.ok(removed !== undefined, t.name);
    return { ...t, give: { give: 'allOf', outputs } };
  };
const notEmptying =
  (...places: readonly string[]) =>
  (t: Transition): Transition => {
    assert.ok(
      places.every((name) => t.reset.some((place) => place.name === name)),
      t.name,
    );
    return { ...t, reset: t.reset.filter(({ name }) => !places.includes(name)) };
  };
const notMinding =
  (...places: readonly string[]) =>
  (t: Transition): Transition => {
    assert.ok(
      places.every((name) => t.unless.some((place) => place.name === name)),
      t.name,
    );
    return { ...t, unless: t.unless.filter(({ name }) => !places.includes(name)) };
  };

const oneAtATime = mutualExclusion(
  'running(a/model.call)',
  'running(a/tool.run)',
  'running(b/model.call)',
  'running(b/tool.run)',
);

const kinds: Readonly<Record<string, Kind>> = {
  'an agent with every callback': {
    agent: speaker('x', {
      callbacks: {
        beforeModel: () => undefined,
        afterModel: () => undefined,
        onModelError: () => undefined,
        beforeTool: () => undefined,
        afterTool: () => undefined,
        onToolError: () => undefined,
        beforeAgent: () => undefined,
        afterAgent: () => undefined,
      },
      outputKey: 'said',
    }),
    more: { guardsFirst: mutualExclusion('model.request', 'running(tool.before)') },
    mutants: {
      'calls the model again while a callback runs': [
        { 'turn.continue': notMinding('running(tool.before)') },
        'guardsFirst',
      ],
      'is interrupted and leaves a callback running': [
        { 'turn.interrupt': notTaking('running(tool.before)') },
        'deadlockFree',
      ],
      'is ended by a callback and leaves its calls unanswered': [
        { 'turn.stop': notTaking('tool.batch') },
        'deadlockFree',
      ],
    },
  },
  'a sequence': {
    agent: sequential({ name: 'flow', subAgents: [speaker('a'), speaker('b')] }),
    more: { oneAtATime },
    mutants: {
      'starts its second agent together with the first': [
        {
          'flow/agent.begin': (t) => ({
            ...t,
            give: {
              give: 'allOf',
              outputs: {
                ...listOutputs(t),
                second: targetPlace('b'),
              },
            },
          }),
        },
        'oneAtATime',
      ],
      'is interrupted and lets its second agent continue': [
        { 'turn.interrupt': notEmptying('running(b/model.call)') },
        'deadlockFree',
      ],
      'does not start the second agent when the first is done': [
        { 'flow/agent.start-b': notGiving('next') },
        'deadlockFree',
      ],
    },
  },
  'a loop': {
    agent: loop({ name: 'flow', subAgents: [speaker('a'), worker('b')], maxIterations: 2 }),
    mutants: {
      'starts another round without taking a token of its budget': [
        { 'flow/loop.repeat': notTaking('budget') },
        'loopIsBounded/flow',
      ],
      'cannot end when its budget is used up': [
        { 'flow/loop.finish': notGiving('exit') },
        'deadlockFree',
      ],
    },
  },
  'agents side by side': {
    agent: parallel({ name: 'flow', subAgents: [speaker('a'), worker('b')] }),
    mutants: {
      'is done before its second agent is done': [
        { 'flow/agent.join': notTaking('b') },
        'deadlockFree',
      ],
      'starts only one of its agents': [{ 'flow/agent.begin': notGiving('b') }, 'deadlockFree'],
      'waits for tools when it is to stop, and lets their agent continue': [
        {
          'a/turn.continue': notMinding('turn.stopping'),
          'a/model.call': notMinding('turn.stopping'),
          'turn.stop': (t) => ({
            ...notTaking('running(a/tool.run)')(t),
            unless: Object.values(t.take)
              .map(arcPlace)
              .filter(({ name }) => name === 'running(a/tool.run)'),
            priority: -1,
          }),
        },
        'noFireAfterEndInvocation',
      ],
      'reports that it waits while its second agent works': [
        { 'a/turn.wait': notMinding('running(b/custom.step)') },
        'waitsWhenAllDo',
      ],
    },
    more: { waitsWhenAllDo: mutualExclusion('turn.waiting', 'running(b/custom.step)') },
  },
  'agents that hand the turn to each other': {
    agent: speaker('a', { maxTransfers: 1, subAgents: [speaker('b')] }),
    more: { oneAtATime },
    mutants: {
      'transfers the turn without taking a token of the transfer limit': [
        { 'a/transfer.route': notTaking('budget'), 'b/transfer.route': notTaking('budget') },
        'transfersAreBounded',
      ],
      'transfers the turn and continues itself': [
        {
          'a/transfer.route': (t) => ({
            ...t,
            give: {
              give: 'oneOf',
              alternatives: Object.fromEntries(
                Object.entries(t.give.give === 'oneOf' ? t.give.alternatives : {}).map(
                  ([name, one]) => [
                    name,
                    name === 'unknown' || !('give' in one)
                      ? one
                      : {
                          give: 'allOf' as const,
                          outputs: {
                            ...one.outputs,
                            batch: { ...toolBatch, name: 'a/tool.batch' },
                          },
                        },
                  ],
                ),
              ),
            },
          }),
        },
        'oneAtATime',
      ],
      'does not answer a call with an unknown agent name': [
        { 'a/transfer.refuse': notGiving('batch') },
        'deadlockFree',
      ],
    },
  },
  'a custom agent': {
    agent: custom({ name: 'flow', subAgents: [speaker('a')], maxYields: 1, async *run() {} }),
    mutants: {
      'yields forever': [{ 'flow/custom.step': notTaking('budget') }, 'yieldsAreBounded/flow'],
      'does not continue when its sub-agent is done': [
        { 'flow/custom.resume-a': notGiving('next') },
        'deadlockFree',
      ],
      'is interrupted and continues': [
        { 'turn.interrupt': notEmptying('running(flow/custom.step)') },
        'deadlockFree',
      ],
    },
  },
  'a custom agent and a model that hand the turn to each other': {
    agent: speaker('a', {
      tools: [],
      maxTransfers: 1,
      callbacks: { afterAgent: () => undefined },
      subAgents: [worker('b')],
    }),
    mutants: {
      'transfers the turn without taking a token of the transfer limit': [
        { 'a/transfer.route': notTaking('budget'), 'b/custom.transfer': notTaking('budget') },
        'transfersAreBounded',
      ],
      'loses the turn when the transfer limit is reached': [
        { 'b/custom.spend': notGiving('ending') },
        'deadlockFree',
      ],
      'is done and keeps the record of its caller': [
        { 'a/agent.return': notTaking('before') },
        'deadlockFree',
      ],
      'is interrupted and keeps the record of its caller': [
        { 'turn.interrupt': notEmptying('a/agent.callers') },
        'deadlockFree',
      ],
    },
  },
  'a workflow of a function, an agent, a list and a join': {
    agent: workflow({
      name: 'flow',
      maxSteps: 3,
      nodes: [
        { kind: 'function', name: 'plan', run: () => null },
        { kind: 'agent', name: 'a', agent: worker('a') },
        { kind: 'each', name: 'items', run: () => null },
        { kind: 'join', name: 'both' },
      ],
      edges: [
        { from: 'START', to: 'plan' },
        { from: 'plan', to: 'a' },
        { from: 'plan', to: 'items' },
        { from: 'a', to: 'both' },
        { from: 'items', to: 'both' },
        { from: 'both', to: 'plan', route: 'again' },
      ],
    }),
    atOnce: 3,
    mutants: {
      'repeats a node without taking a token of its budget': [
        { 'flow/node.run-plan': notTaking('budget'), 'flow/node.start-a': notTaking('budget') },
        'stepsAreBounded/flow',
      ],
      'is done while a node still runs': [
        { 'flow/workflow.end': notMinding('running(flow/node.run-plan)') },
        'deadlockFree',
      ],
      'is interrupted and lets a node continue': [
        { 'turn.interrupt': notEmptying('running(flow/node.run-items)') },
        'deadlockFree',
      ],
      'is done and keeps the tokens of a join': [
        {
          'flow/node.route-plan': notGiving('to-items'),
          'flow/workflow.end': notTaking('node.both-from-a'),
        },
        'deadlockFree',
      ],
      'leaves out a branch to a join': [
        { 'flow/node.route-plan': notGiving('to-items') },
        'joinsComplete/flow',
      ],
      'never begins its list': [
        { 'flow/node.route-plan': notGiving('to-items') },
        'everyNodeReachable/flow',
      ],
    },
  },
};

/** The proofs and mutants of every kind of agent. */
export const flowProofs: readonly NetProof[] = Object.entries(kinds).map(([name, kind]) => {
  const { net, compiled } = kind.agent;
  const limits = { atOnce: kind.atOnce ?? 1, faults: 0 };
  const { properties: promised, bounds, components } = promisesOf(kind.agent, limits);
  const { deadlockFree, oneTurn } = promised;
  assert.ok(deadlockFree !== undefined && oneTurn !== undefined, name);
  const properties: Readonly<Record<string, Property>> = { ...promised, ...kind.more };
  const within = {
    ...bounds,
    attempts: 1,
    environment: { ...bounds.environment, 'user.in': 1, 'rewind.in': 0 },
  };
  assert.deepEqual(compiled.warnings, [], name);
  // One interrupt or one answer: both together need ten times as many states.
  const inputs = ['interrupt.in', 'answer.in'];
  const withFault = { ...within, faults: 1 };
  return {
    name,
    net,
    components,
    claims: [
      {
        properties: Object.values(properties),
        bounds: within,
        quick: withoutEach(within, inputs),
      },
      // If any part of the net's own logic fails, the turn ends and the session continues.
      {
        properties: [deadlockFree, oneTurn],
        bounds: withFault,
        quick: withoutEach(withFault, inputs),
      },
    ],
    mutants: Object.entries(kind.mutants).map(([that, [mutation, broken]]) => {
      const property = properties[broken];
      assert.ok(property !== undefined, broken);
      return { that, net: mutated(kind.agent.net, mutation), property, bounds: within };
    }),
  };
});

function mutated(net: Net, mutation: Mutation): Net {
  for (const name of Object.keys(mutation)) named(net, name);
  return { ...net, transitions: net.transitions.map((t) => mutation[t.name]?.(t) ?? t) };
}

function named(
  { transitions }: { readonly transitions: readonly Transition[] },
  name: string,
): Transition {
  const found = transitions.find((t) => t.name === name);
  assert.ok(found !== undefined, `there is no transition "${name}"`);
  return found;
}

function listOutputs({
  give,
}: Transition): Extract<Transition['give'], { give: 'allOf' }>['outputs'] {
  return give.give === 'allOf' ? give.outputs : {};
}
