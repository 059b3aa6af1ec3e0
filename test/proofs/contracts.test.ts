/** What follows from the contracts of agents: the proved properties of every kind, and nothing that a mutant breaks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agent, agentProof, loop, parallel, sequential, workflow } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { compile } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import {
  atMost,
  costAtMost,
  formatReport,
  isProved,
  neverFiresAfter,
  precedes,
  prove,
} from '../../src/verify/index.ts';
import type { Bounds, Property } from '../../src/verify/index.ts';
import { ContractCheck } from '../../src/verify/contracts/contract-check.ts';
import type { ComponentTree } from '../../src/verify/contracts/contract.ts';
import { Derivations } from '../../src/verify/derivations.ts';
import { expand } from '../../src/verify/system/expand.ts';
import {
  losing,
  withoutInhibitor,
  withoutInput,
  withoutOutput,
  withoutReset,
  withoutTransition,
} from '../cases/net-mutations.ts';
import { flowProofs } from './flows.ts';

/** Returns the names of the properties that do not follow. */
function listOpen(
  net: Net,
  components: ComponentTree,
  bounds: Bounds,
  properties: readonly Property[],
): readonly string[] {
  const limits = { states: 50_000, endsAt: Number.POSITIVE_INFINITY };
  const compiled = compile(net);
  const check = new ContractCheck(expand(compiled, bounds), components, limits);
  Array.from(check.prove());
  const follows = (one: Property): boolean =>
    new Derivations(compiled, { properties: [one] }).searched.every(
      (part) => check.decide(part).holds,
    );
  return properties.filter((one) => !follows(one)).map(({ name }) => name);
}

/**
 * A property that only a search of the whole net proves: it is about the waiting of one agent and the work of another, or
 * about what some run does.
 */
const needsWholeNet = (property: string): boolean =>
  property === 'only one of turn.waiting, running(b/custom.step) is marked' ||
  property.startsWith('every node can be reached');

for (const { name, net, claims, mutants, components } of flowProofs) {
  if (components === undefined) continue;
  describe(name, () => {
    for (const { properties, bounds } of claims) {
      const open = properties.map((one) => one.name).filter(needsWholeNet);
      it(`follows from its contracts: ${properties.length - open.length} properties`, () => {
        assert.deepEqual(listOpen(net, components, bounds, properties), open);
      });
    }
    for (const mutant of mutants) {
      it(`keeps the property open when it ${mutant.that}`, () => {
        const { property, bounds } = mutant;
        assert.deepEqual(listOpen(mutant.net, components, bounds, [property]), [property.name]);
      });
    }
  });
}

const look = tool({ name: 'look', description: 'Looks.' });
const speaker = (name: string): Agent =>
  agent({ name, model: new ScriptedModel([]), tools: [look] });
const speakers = (...names: readonly string[]): readonly Agent[] => names.map(speaker);

describe('a session that is controlled', () => {
  const assistant = agent({ name: 'assistant', model: new ScriptedModel([]), tools: [look] });
  const { properties, bounds, components } = agentProof(assistant, {
    control: true,
    atOnce: 1,
  });
  const { deadlockFree: rests, oneTurn } = properties;
  assert.ok(rests !== undefined && oneTurn !== undefined);
  const listOpenOf = (net: Net, ...of: readonly Property[]): readonly string[] =>
    listOpen(net, components, bounds, of);

  it('is proved through contracts, with every input of its control', () => {
    const { environment = {} } = bounds;
    for (const input of ['pause', 'resume', 'complete', 'archive', 'event'])
      assert.equal(environment[`${input}.in`], 1);
    assert.deepEqual(listOpenOf(assistant.net, ...Object.values(properties)), []);
  });

  const mutants: Readonly<Record<string, Net>> = {
    'keeps the permit of a fault when it is archived': withoutTransition(
      assistant.net,
      'archived.discard-permit',
    ),
    'is archived and stays paused': withoutReset(assistant.net, 'session.stop', 'session.paused'),
    'is archived and lets its turn continue': withoutOutput(assistant.net, 'session.stop', 'stops'),
  };
  for (const [that, net] of Object.entries(mutants))
    it(`keeps it open where a session may rest that ${that}`, () => {
      assert.deepEqual(listOpenOf(net, rests), [rests.name]);
    });

  it('keeps it open that one turn runs if a resume repeats a call without the permit', () => {
    const net = withoutInput(assistant.net, 'session.retry', 'permit');
    assert.deepEqual(listOpenOf(net, oneTurn), [oneTurn.name]);
  });
});

describe('a session that is controlled and whose outcomes are judged', () => {
  const assistant = agent({
    name: 'assistant',
    model: new ScriptedModel([]),
    tools: [look],
    outcomes: {},
  });
  const { properties, bounds, components } = agentProof(assistant, {
    control: true,
    atOnce: 1,
  });
  const { net } = assistant;

  it('is proved through contracts, with an outcome and every input of its control', () => {
    const { environment = {} } = bounds;
    for (const [input, tokens] of Object.entries(environment)) assert.equal(tokens, 1, input);
    assert.ok('outcome.in' in environment);
    assert.deepEqual(listOpen(net, components, bounds, Object.values(properties)), []);
  });

  const mutants: readonly (readonly [that: string, net: Net, property: string])[] = [
    ['judges a turn and loses it', losing(net, 'outcome.evaluate', 'grade'), 'deadlockFree'],
    [
      'defines an outcome and keeps the permit',
      withoutOutput(net, 'outcome.define-next', 'permit'),
      'deadlockFree',
    ],
    [
      'judges a turn that an interrupt has ended',
      withoutReset(net, 'turn.interrupt', 'outcome.verdict'),
      'deadlockFree',
    ],
    [
      'judges a turn that has failed',
      withoutReset(net, 'turn.abandon', 'outcome.grading'),
      'oneTurn',
    ],
    ['ends a turn and judges it', withoutInput(net, 'outcome.evaluate', 'ending'), 'oneTurn'],
    [
      'begins a revision with the calls that the round before left',
      withoutReset(net, 'outcome.apply-verdict', 'turn.budget'),
      'reaskBudgetIsBounded',
    ],
    [
      'judges a turn that was interrupted',
      withoutInhibitor(net, 'outcome.evaluate', 'outcome.interrupted'),
      'noToolAfterInterrupt',
    ],
    [
      'is stopped and keeps the call that it was to make',
      withoutReset(net, 'turn.stop', 'model.request'),
      'noFireAfterEndInvocation',
    ],
  ];
  const environment = {
    ...Object.fromEntries(Object.keys(bounds.environment ?? {}).map((input) => [input, 0])),
    'user.in': 1,
    'outcome.in': 1,
    'interrupt.in': 1,
  };
  for (const [that, mutant, name] of mutants)
    it(`keeps ${name} open if it ${that}`, () => {
      const property = properties[name];
      assert.ok(property !== undefined);
      const listOpenOf = (of: Net): readonly string[] =>
        listOpen(of, components, { ...bounds, environment }, [property]);
      assert.deepEqual(listOpenOf(mutant), [property.name]);
      assert.deepEqual(listOpenOf(net), []);
    });
});

describe('a tree of agents', () => {
  it('is proved through contracts with the limits of the command line', async () => {
    const tree = sequential({
      name: 'flow',
      subAgents: [
        parallel({ name: 'research', subAgents: speakers('web', 'files') }),
        speaker('write'),
      ],
    });
    const { properties, ...proof } = agentProof(tree);
    const report = await prove(tree.compiled, { ...proof, properties: Object.values(properties) });
    assert.ok(isProved(report), formatReport(report));
    assert.deepEqual(new Set(report.results.map(({ by }) => by)), new Set(['contracts']));
  });

  it('is proved through contracts for properties of the steps of several agents', async () => {
    const tree = sequential({
      name: 'flow',
      subAgents: [
        parallel({ name: 'research', subAgents: speakers('web', 'files') }),
        speaker('write'),
        loop({ name: 'review', subAgents: speakers('judge', 'mend') }),
      ],
    });
    const { properties: _, ...proof } = agentProof(tree, { atOnce: 1 });
    const calls = ['web', 'files', 'write', 'judge', 'mend'].map((name) => `${name}/model.call`);
    const per = { per: 'user.in' };
    const properties = [
      precedes('research/agent.join', ['write/model.call'], per),
      precedes('write/agent.begin', ['judge/model.call', 'mend/model.call']),
      precedes('research/agent.join', ['write/agent.begin'], { each: true }),
      atMost(['write/agent.begin'], 1, per),
      // Two calls for each start. The loop starts its agents twice.
      atMost(calls, 14, per),
      costAtMost({ 'web/model.call': 5, 'judge/model.call': 3 }, 22, per),
      neverFiresAfter(['web/model.call'], 'write/agent.begin', { until: 'turn.permit' }),
    ];
    const report = await prove(tree.compiled, { ...proof, properties });
    assert.ok(isProved(report), formatReport(report));
    assert.deepEqual(new Set(report.results.map(({ by }) => by)), new Set(['contracts']));
    // Each of these is a little stronger than what holds.
    const check = new ContractCheck(expand(tree.compiled, proof.bounds), proof.components, {
      states: 50_000,
      endsAt: Number.POSITIVE_INFINITY,
    });
    for (const { verdict } of check.prove()) assert.equal(verdict, 'proved');
    const open = [
      atMost(calls, 13, per),
      costAtMost({ 'web/model.call': 5, 'judge/model.call': 3 }, 21, per),
      atMost(['judge/agent.begin'], 1, per),
      precedes('web/model.call', ['files/model.call']),
      neverFiresAfter(['judge/model.call'], 'mend/agent.begin', { until: 'turn.permit' }),
    ];
    assert.deepEqual(
      open.filter((one) => check.decide(one).holds),
      [],
    );
  });

  it('costs the sum of its different agents', async () => {
    const team = (name: string): Agent =>
      sequential({
        name,
        subAgents: [
          parallel({ name: `${name}-many`, subAgents: speakers(`${name}-a`, `${name}-b`) }),
          loop({ name: `${name}-again`, subAgents: speakers(`${name}-c`, `${name}-d`) }),
        ],
      });
    const tree = sequential({ name: 'flow', subAgents: ['x', 'y'].map(team) });
    const { properties, ...proof } = agentProof(tree, { atOnce: 1 });
    const report = await prove(tree.compiled, { ...proof, properties: Object.values(properties) });
    assert.ok(isProved(report), formatReport(report));
    const { contracts = [] } = report;
    assert.equal(contracts.length, 1 + 2 * 7 + 1);
    assert.equal(
      contracts.filter(({ component }) => component.startsWith('y')).length,
      contracts.filter(({ component, sameAs }) => component.startsWith('y') && sameAs).length,
    );
    assert.ok(contracts.reduce((all, { states }) => all + states, 0) < 20_000);
  });

  it('does not depend on the number of equal agents that run at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const tree = parallel({ name: 'flow', subAgents: speakers(...names) });
    const { properties, ...proof } = agentProof(tree, { atOnce: 1 });
    const report = await prove(tree.compiled, { ...proof, properties: Object.values(properties) });
    assert.ok(isProved(report, { strict: true }), formatReport(report));
    assert.deepEqual(new Set(report.results.map(({ by }) => by)), new Set(['contracts']));
    const flow = report.contracts?.find(({ component }) => component === 'flow');
    // Without the exchange of equal agents, more than 200,000.
    assert.ok((flow?.states ?? 0) < 2_000, `${flow?.states}`);
  });

  it('keeps every property open when a user replaces a subnet by one that breaks the contract', () => {
    const broken = agent({
      name: 'broken',
      model: new ScriptedModel([]),
      // It asks the model again without a batch of results: so the agent may be done twice.
      subnets: ({ toolDispatch }) => ({
        toolDispatch: {
          ...toolDispatch,
          transitions: toolDispatch.transitions.map((t) => {
            if (t.name !== 'turn.continue') return t;
            const { batch, ...take } = t.take;
            assert.ok(batch !== undefined);
            return { ...t, take };
          }),
        },
      }),
    });
    const tree = sequential({ name: 'flow', subAgents: [speaker('good'), broken] });
    const { properties, bounds, components } = agentProof(tree, { atOnce: 1 });
    const limits = { states: 50_000, endsAt: Number.POSITIVE_INFINITY };
    const check = new ContractCheck(expand(tree.compiled, bounds), components, limits);
    const results = Array.from(check.prove());
    assert.deepEqual(
      results.map(({ component, verdict }) => [component, verdict]),
      [
        ['good', 'proved'],
        ['broken', 'unknown'],
      ],
    );
    assert.match(
      results[1]?.reason ?? '',
      /may break the contract of "broken": done in state idle/,
    );
    assert.ok(Object.values(properties).every((one) => !check.decide(one).holds));
  });
});

describe('a workflow whose routes double its runs', () => {
  /** Diamonds in a row: both branches run and are joined, or a route selects one of them, both or none. */
  function diamonds(count: number, isJoined: (index: number) => boolean): Agent {
    const at = Array.from({ length: count }, (_, index) => index);
    return workflow({
      name: 'graph',
      nodes: at.flatMap((index) => [
        ...['from', 'left', 'right'].map((name) => ({
          kind: 'function' as const,
          name: `${name}${index}`,
          run: () => null,
        })),
        index % 2 === 0
          ? { kind: 'join' as const, name: `to${index}` }
          : { kind: 'function' as const, name: `to${index}`, run: () => null },
      ]),
      edges: [
        { from: 'START', to: 'from0' },
        ...at.flatMap((index) => [
          ...['left', 'right'].flatMap((name) => [
            {
              from: `from${index}`,
              to: `${name}${index}`,
              ...(isJoined(index) ? {} : { route: name }),
            },
            { from: `${name}${index}`, to: `to${index}` },
          ]),
          ...(index + 1 < count ? [{ from: `to${index}`, to: `from${index + 1}` }] : []),
        ]),
      ],
    });
  }

  function check(flow: Agent): Readonly<Record<string, boolean>> {
    const { properties, bounds, components } = agentProof(flow);
    const { compiled } = flow;
    const limits = { states: 100_000, endsAt: Number.POSITIVE_INFINITY };
    const views = new ContractCheck(expand(compiled, bounds), components, limits, 100);
    assert.ok(Array.from(views.prove()).every(({ verdict }) => verdict === 'proved'));
    assert.ok(views.hasGroups);
    const { everyNodeReachable: _, ...others } = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name.replace(/\/.*/, ''), property]),
    );
    return Object.fromEntries(
      Object.entries(others).map(([name, property]) => [
        name,
        new Derivations(compiled, { properties: [property] }).searched.every(
          (one) => views.decide(one).holds,
        ),
      ]),
    );
  }

  const proved = {
    deadlockFree: true,
    oneTurn: true,
    stepsAreBounded: true,
    joinsComplete: true,
    noFireAfterEndInvocation: true,
  };

  it('follows from views that count its nodes together', () => {
    assert.deepEqual(check(diamonds(4, (index) => index % 2 === 0)), proved);
  });

  it('reaches every node in few states', async () => {
    const flow = diamonds(13, (index) => index % 2 === 0);
    const { properties, bounds } = agentProof(flow);
    const report = await prove(flow.compiled, {
      properties: [properties['everyNodeReachable/graph'] ?? assert.fail()],
      bounds,
    });
    assert.ok(isProved(report, { strict: true }), formatReport(report));
    assert.ok((report.results[0]?.states ?? 0) < 2_000, formatReport(report));
  });

  it('keeps the property of its joins open if a route leads to a join', () => {
    const oneRouted = check(diamonds(2, () => false));
    assert.deepEqual(oneRouted, { ...proved, joinsComplete: false });
  });
});
