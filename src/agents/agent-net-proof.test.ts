/**
 * What is proved of the agent's net, over every order of events, every declared outcome and every failure: up to three
 * calls in one answer, two queued messages, two attempts of a model call. Values are left out.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScriptedModel } from '../models/index.ts';
import { compile } from '../net/index.ts';
import type { CompiledNet, Transition } from '../net/index.ts';
import {
  atMost,
  deadlockFree,
  eventuallyAnswered,
  formatReport,
  isProved,
  mutualExclusion,
  placeBound,
  prove,
  reaskBudgetIsBounded,
  unreachable,
} from '../verify/index.ts';
import type { Bounds, Property, PropertyResult, Resting } from '../verify/index.ts';
import { agent } from './define-agent.ts';

const REASK_BUDGET = 2;

const { net } = agent({
  name: 'assistant',
  model: new ScriptedModel([]),
  reaskBudget: REASK_BUDGET,
});
const built = compile(net);

/** Three calls at once, whether they run, wait or are answered at once; one thing that goes wrong in the net's own logic. */
const bounds: Bounds = {
  environment: { 'user.in': 2, 'interrupt.in': 1, 'answer.in': 1, 'rewind.in': 0 },
  together: 3,
  attempts: 2,
  faults: 1,
  states: 400_000,
};

const ofTurn: readonly string[] = [
  'turn.current',
  'turn.budget',
  'turn.waiting',
  'turn.ending',
  'model.request',
  'running(model.ask)',
  'model.response',
  'model.failed',
  'tool.batch',
  'tool.call',
  'running(tool.run)',
  'tool.parked',
  'tool.result',
  'tool.write',
  'turn.stop-asked',
  'turn.stopping',
];

/** No turn runs. An answer that came too late waits for the next turn, which drops it. */
const idle: Resting = {
  marked: ['turn.permit'],
  allowed: ['answer.in'],
};
/** A turn waits for a person; messages queue behind it. */
const waiting: Resting = {
  marked: ['turn.waiting', 'turn.current', 'tool.batch', 'tool.parked'],
  allowed: ['tool.result', 'turn.budget', 'answer.in', 'user.in', 'rewind.in'],
};

const answered = eventuallyAnswered('prompt.build', ['turn.end', 'turn.abandon'], {
  resting: [waiting],
});
const onePermit = placeBound(['turn.permit', 'turn.current'], 1);
const asksWhenAllIsIn = mutualExclusion('model.request', 'running(tool.run)');
const budgetIsBounded = reaskBudgetIsBounded({
  ask: 'model.ask',
  budget: REASK_BUDGET,
  per: 'user.in',
});
const nothingLeft = ofTurn.map((place) => unreachable({ 'turn.permit': 1, [place]: 1 }));

async function proved(properties: readonly Property[], within: Bounds): Promise<void> {
  const report = await prove(built, { properties, bounds: within, route: 'search' });
  assert.ok(isProved(report), formatReport(report));
}

test('a session has one permit, never stands still but where it may, and leaves nothing of a turn behind', () =>
  proved(
    [
      onePermit,
      deadlockFree([idle, waiting]),
      ...nothingLeft,
      asksWhenAllIsIn,
      placeBound('turn.budget', REASK_BUDGET),
      placeBound(['model.request', 'running(model.ask)', 'model.response', 'model.failed'], 1),
      placeBound('tool.batch', 1),
      unreachable('net.fault.unhandled'),
    ],
    bounds,
  ));

test('a rewind waits for the turn that runs', () =>
  proved([onePermit, deadlockFree([idle, waiting]), ...nothingLeft], {
    ...bounds,
    environment: { 'user.in': 1, 'interrupt.in': 1, 'answer.in': 1, 'rewind.in': 1 },
    together: 2,
  }));

test('a turn asks the model at most once more than its budget says', () =>
  proved([budgetIsBounded], { ...bounds, faults: 0 }));

test('every turn ends: by itself, by an interrupt or by a fault, unless it waits for a person', () =>
  proved([answered], { ...bounds, together: 2 }));

test('the calls of one answer are joined once', () =>
  proved([atMost(['turn.reask', 'turn.conclude'], 1, { per: 'model.response' })], {
    ...bounds,
    faults: 0,
    together: 2,
  }));

/** The net with one transition changed. */
function mutant(name: string, change: (t: Transition) => Partial<Transition>): CompiledNet {
  return compile({
    ...net,
    transitions: net.transitions.map((t) => (t.name === name ? { ...t, ...change(t) } : t)),
  });
}

const without = (t: Transition, ...inputs: readonly string[]): Transition['take'] =>
  Object.fromEntries(Object.entries(t.take).filter(([key]) => !inputs.includes(key)));

const mutants: readonly {
  readonly what: string;
  readonly net: CompiledNet;
  readonly property: Property;
}[] = [
  {
    what: 'asks again while tools still run',
    net: mutant('turn.reask', ({ unless }) => ({
      unless: unless.filter(({ name }) => name !== 'running(tool.run)'),
    })),
    property: asksWhenAllIsIn,
  },
  {
    what: 'is interrupted without stopping its tools',
    net: mutant('turn.interrupt', (t) => ({ take: without(t, 'running(tool.run)') })),
    property: unreachable({ 'turn.permit': 1, 'running(tool.run)': 1 }),
  },
  {
    what: 'asks again without paying for it',
    net: mutant('turn.reask', (t) => ({ take: without(t, 'budget') })),
    property: budgetIsBounded,
  },
  {
    what: 'begins a turn without the permit',
    net: mutant('prompt.build', (t) => ({ take: without(t, 'permit') })),
    property: onePermit,
  },
  {
    what: 'ends a turn and keeps the permit',
    net: mutant('turn.abandon', ({ give }) => ({
      give:
        give.give === 'allOf'
          ? {
              give: 'allOf',
              outputs: Object.fromEntries(
                Object.entries(give.outputs).filter(([key]) => key !== 'permit'),
              ),
            }
          : give,
    })),
    property: deadlockFree([idle, waiting]),
  },
  {
    what: 'waits for a person for ever after an interrupt',
    net: mutant('turn.interrupt', (t) => ({ take: without(t, 'tool.batch', 'tool.parked') })),
    property: deadlockFree([idle, waiting]),
  },
];

for (const { what, net: changed, property } of mutants) {
  test(`an agent that ${what} is refuted with a trace`, async () => {
    const { results } = await prove(changed, {
      properties: [property],
      bounds: { ...bounds, together: 2 },
      route: 'search',
    });
    const [result] = results;
    assert.equal(result?.verdict, 'refuted', whyNot(result));
    assert.ok((result.trace?.steps.length ?? 0) > 0);
  });
}

function whyNot(result: PropertyResult | undefined): string {
  return `${result?.property.name ?? ''}: ${result?.verdict ?? ''} ${result?.reason ?? ''}`;
}
