import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allOf,
  compile,
  effect,
  initialToken,
  net,
  oneOf,
  place,
  pure,
  upTo,
} from '../../net/index.ts';
import type { CompiledNet, TokenPlace, Transition } from '../../net/index.ts';
import { atMost, costAtMost, neverFiresAfter, precedes } from '../properties/create-property.ts';
import type { SearchedProperty } from '../properties/property.ts';
import { prove } from '../prove.ts';
import { expand } from '../system/expand.ts';
import { ContractCheck } from './contract-check.ts';
import type { ComponentTree, NetComponent } from './contract.ts';

const unused = (): never => {
  throw new Error('never run');
};

/** A pure transition that only its arcs describe. */
function move(name: string, arcs: object): Transition {
  const candidate: unknown = pure(name, { ...arcs, run: unused } as never);
  return candidate as Transition;
}

/** An effect that only its arcs describe. */
function job(name: string, arcs: object): Transition {
  const candidate: unknown = effect(name, { ...arcs, failed: unused, run: unused } as never);
  return candidate as Transition;
}

type Defect =
  | 'b starts first'
  | 'a is asked again'
  | 'a works again without a budget'
  | 'b works before it begins';

/** A net that differs from the office. */
type Change = Defect | 'the clerk notes each work of a';

const signal = (name: string): TokenPlace<null> => place(name);
const ordersIn = place('orders', { environment: true });
const idle = signal('idle');
const ask = (name: string) => signal(`${name}.ask`);
const answer = (name: string) => signal(`${name}.answer`);
const names = ['a', 'b'];

/** For each order, a clerk asks worker a, then worker b. A worker works once, and up to twice more. */
function office(defect?: Change): CompiledNet {
  const [first, second] = defect === 'b starts first' ? ['b', 'a'] : ['a', 'b'];
  const worker = (name: string): readonly Transition[] => {
    const ready = signal(`${name}/ready`);
    const result = signal(`${name}/result`);
    const budget = signal(`${name}/budget`);
    const note =
      defect === 'the clerk notes each work of a' && name === 'a' ? { note: signal('note') } : {};
    const isEndless = defect === 'a works again without a budget' && name === 'a';
    return [
      move(`${name}/begin`, {
        take: { ask: ask(name) },
        reset: [budget],
        give: allOf({ ready, budget: upTo(2, budget), ...note }),
      }),
      job(`${name}/work`, { take: { ready }, give: allOf({ result }) }),
      move(`${name}/again`, {
        take: isEndless ? { result } : { result, budget },
        give: allOf({ ready }),
      }),
      move(`${name}/finish`, { take: { result }, give: allOf({ answer: answer(name) }) }),
    ];
  };
  return compile(
    net('office', {
      in: { orders: ordersIn },
      initial: [initialToken(idle, null)],
      transitions: [
        move('clerk.begin', { take: { orders: ordersIn, idle }, give: allOf({ ask: ask(first) }) }),
        move('clerk.next', {
          take: { answer: answer(first) },
          give:
            defect === 'a is asked again'
              ? oneOf({ next: ask(second), again: ask(first) })
              : allOf({ next: ask(second) }),
        }),
        move('clerk.end', { take: { answer: answer(second) }, give: allOf({ idle }) }),
        ...names.flatMap(worker),
        ...(defect === 'the clerk notes each work of a'
          ? [move('clerk.note', { priority: 1, take: { note: signal('note') }, give: allOf({}) })]
          : []),
        ...(defect === 'b works before it begins'
          ? [
              move('b/hurry', {
                priority: 1,
                take: { ask: ask('b') },
                give: allOf({ ready: signal('b/ready') }),
              }),
            ]
          : []),
      ],
    }),
  );
}

function component(name: string): NetComponent {
  return {
    name,
    places: [
      ...['ready', 'result', 'budget'].map((own) => `${name}/${own}`),
      `running(${name}/work)`,
      ask(name).name,
    ],
    transitions: ['begin', 'work', 'again', 'finish'].map((own) => `${name}/${own}`),
    contract: {
      initial: 'free',
      events: [
        {
          name: 'asked',
          promisedBy: 'environment',
          on: { gives: [ask(name).name], by: 'environment' },
        },
        {
          name: 'begins',
          promisedBy: 'component',
          on: { takes: [ask(name).name], by: 'component' },
        },
        {
          name: 'answers',
          promisedBy: 'component',
          on: { gives: [answer(name).name], by: 'component' },
        },
      ],
      steps: {
        free: { asked: 'asked' },
        asked: { begins: 'busy' },
        busy: { answers: 'free' },
      },
    },
    children: [],
  };
}

function tree(compiled: CompiledNet): ComponentTree {
  return {
    shared: [],
    ports: names.flatMap((name) => [ask(name).name, answer(name).name]),
    children: names.map((name) => {
      const one = component(name);
      const hurry = `${name}/hurry`;
      return compiled.byName.has(hurry)
        ? { ...one, transitions: [...one.transitions, hurry] }
        : one;
    }),
  };
}

/** By property: whether it follows from the contracts, and whether a search of the whole net proves it. */
async function decide(
  defect: Change | undefined,
  properties: readonly SearchedProperty[],
  orders = 2,
): Promise<readonly (readonly [follows: boolean, proved: boolean])[]> {
  const compiled = office(defect);
  const bounds = { environment: { orders }, faults: 0, shutdowns: false };
  const limits = { states: 50_000, endsAt: Number.POSITIVE_INFINITY };
  const check = new ContractCheck(expand(compiled, bounds), tree(compiled), limits);
  for (const result of check.prove()) assert.equal(result.verdict, 'proved', result.reason);
  const { results } = await prove(compiled, { properties, bounds, route: 'search' });
  return results.map(({ verdict }, index) => {
    assert.notEqual(verdict, 'unknown');
    const property = properties[index];
    return [property !== undefined && check.decide(property).holds, verdict === 'proved'];
  });
}

const per = { per: 'orders' };
const inOrder = precedes('a/finish', ['b/work'], per);
const begun = precedes('b/begin', ['b/work'], per);
const each = precedes('a/begin', ['b/begin'], { each: true });
const never = neverFiresAfter(['a/work'], 'b/begin', { until: 'clerk.begin' });
const until = neverFiresAfter(['b/work'], 'a/begin', { until: ['clerk.begin', 'b/begin'] });
const costs = costAtMost({ 'a/work': 2, 'b/work': 1 }, 9, per);
const together = atMost(['a/work', 'b/work'], 6, per);
const once = atMost(['a/begin'], 1, per);
const stale: SearchedProperty = {
  kind: 'neverStale',
  name: 'no late end',
  commits: ['clerk.end'],
  renewals: ['clerk.begin'],
  work: ['b.answer'],
};
const all = [inOrder, begun, each, never, until, costs, together, once, stale];

const follows = [true, true];
const refuted = [false, false];

describe('properties of the steps of several components', () => {
  it('follow from contracts', async () => {
    assert.deepEqual(
      await decide(undefined, all),
      all.map(() => follows),
    );
  });

  it('do not follow if they are slightly stronger than what holds', async () => {
    const stronger = [
      costAtMost({ 'a/work': 2, 'b/work': 1 }, 8, per),
      atMost(['a/work', 'b/work'], 5, per),
      atMost(['a/work', 'b/work'], 6),
      precedes('b/begin', ['a/begin']),
      precedes('a/begin', ['a/work'], { each: true }),
      precedes('a/finish', ['b/work'], { per: 'b.ask' }),
      neverFiresAfter(['b/work'], 'a/begin', { until: 'clerk.begin' }),
      { ...stale, renewals: ['b/finish'] } as const,
    ];
    assert.deepEqual(
      await decide(undefined, stronger),
      stronger.map(() => refuted),
    );
  });

  it('count the steps after a restart in the middle of the work of a component', async () => {
    const count = (max: number) => atMost(['a/work', 'clerk.end'], max, { per: 'note' });
    const decided = await decide('the clerk notes each work of a', [count(4), count(3)], 1);
    assert.deepEqual(decided, [follows, refuted]);
  });

  const broken: Readonly<Record<Defect, readonly SearchedProperty[]>> = {
    'b starts first': [inOrder, each, never],
    'a is asked again': [costs, together, once],
    'a works again without a budget': [costs, together],
    'b works before it begins': [begun, until],
  };
  for (const [defect, properties] of Object.entries(broken) as [Defect, SearchedProperty[]][])
    it(`stay open if ${defect}`, async () => {
      const wrong = properties.filter((one) => one !== each || defect === 'b starts first');
      assert.deepEqual(
        await decide(defect, wrong),
        wrong.map(() => refuted),
      );
      const others = all.filter((one) => !properties.includes(one));
      for (const [isDecided, isProved] of await decide(defect, others))
        assert.ok(isProved || !isDecided);
    });
});
