/**
 * Properties that an earlier version of the prover proved although the executor violates them. Each test names what the
 * model ignored.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  all,
  allOf,
  compile,
  each,
  effect,
  Executor,
  emptyMarking,
  faultPlace,
  FiringKeyError,
  initialToken,
  many,
  matching,
  net,
  NetBuildError,
  oneOf,
  optional,
  outlet,
  place,
  pure,
  running,
  upTo,
  type CompiledNet,
  type FiringToken,
  type TokenPlace,
  type Transition,
} from '../net/index.ts';
import { ContractCheck } from './contracts/contract-check.ts';
import type { ComponentTree, NetComponent } from './contracts/contract.ts';
import type { Bounds } from './properties/bounds.ts';
import {
  atMost,
  deadlockFree,
  eventOutBounded,
  eventually,
  eventuallyAnswered,
  joinedOrDeadLettered,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
  precedes,
  settles,
  unreachable,
} from './properties/create-property.ts';
import type { Property, SearchedProperty } from './properties/property.ts';
import { prove } from './prove.ts';
import type { PropertyResult } from './report.ts';
import { expand } from './system/expand.ts';
import { TransitionSystem } from './system/transition-system.ts';

const a = place('a');
const b = place('b');
const job = place('job', z.object({ id: z.string() }));
const asked = place('asked', z.string(), { environment: true });

async function decide(
  of: CompiledNet,
  property: Property,
  bounds: Bounds = {},
): Promise<PropertyResult> {
  const { results } = await prove(of, {
    properties: [property],
    bounds: { faults: 0, ...bounds },
    route: 'search',
  });
  const [result] = results;
  assert.ok(result !== undefined);
  return result;
}

const work = effect('work', {
  take: { job },
  give: allOf({ b }),
  failed: () => ({ b: null }),
  retry: { attempts: 3, backoff: '1s..1s' },
  run: async () => ({ b: null }),
});

type WorkFiring = FiringToken<{ readonly job: { readonly id: string } }>;

/** Stops the work of this key. */
const stopBy = (getKey: (firing: WorkFiring) => string): Transition =>
  pure('stop', {
    take: {
      asked: matching(asked, (key) => key),
      working: matching(running(work), getKey as (firing: unknown) => string),
    },
    give: allOf({ a }),
    run: () => ({ a: null }),
  });

const workNet = (getKey: (firing: WorkFiring) => string): CompiledNet =>
  compile(
    net('work', {
      transitions: [work, stopBy(getKey)],
      initial: [initialToken(job, { id: 'j' })],
    }),
  );

test('a net that matches firings by their attempt does not build, because the attempt changes', () => {
  assert.throws(
    () => workNet(({ attempt }) => `${attempt}`),
    (error: unknown) =>
      error instanceof NetBuildError &&
      /"stop" matches "running\(work\)" by the attempt of a firing/.test(error.message),
  );
});

test('an attempt that the build did not see is a fault of the firing, not a key', () => {
  // The build cannot know that the id of a job is "j".
  const of = workNet((firing) => (firing.inputs.job.id === 'j' ? `${firing.attempt}` : ''));
  const executor = new Executor(of, emptyMarking(), { toFiringId: String });
  executor.begin(0);
  executor.settle(0);
  const { records } = executor.takeSettled();
  const fault = records.find((record) => record.kind === 'faulted');
  assert.equal(fault?.error.code, new FiringKeyError().code);
});

test('a firing that is copied or written as JSON has no attempt, so its key is constant', async () => {
  const of = workNet((firing) => JSON.stringify({ ...firing }));
  const property = neverFiresAfter('work', 'a');
  assert.equal((await decide(of, property)).verdict, 'proved');
});

test('the key of an initial token is that of the value that the schema returns', async () => {
  const Keyed = z.object({ key: z.string().default('x') });
  const left = place('left', Keyed);
  const right = place('right', Keyed);
  const join = pure('join', {
    take: { left: matching(left, ({ key }) => key), right: matching(right, ({ key }) => key) },
    give: allOf({ b }),
    run: () => ({ b: null }),
  });
  const of = compile(
    net('defaults', {
      transitions: [join],
      initial: [initialToken(left, {} as { key: string }), initialToken(right, { key: 'x' })],
    }),
  );
  assert.equal((await decide(of, unreachable('b'))).verdict, 'refuted');
});

test('a bound that keeps a place empty keeps the outcomes that give it nothing', async () => {
  const give = pure('give', {
    take: { a },
    give: allOf({ b, job: optional(job) }),
    run: () => ({ b: null }),
  });
  const of = compile(net('optional', { transitions: [give], initial: [initialToken(a, null)] }));
  const { verdict } = await decide(of, unreachable('b'), { empty: ['job'] });
  assert.equal(verdict, 'refuted');
  const empty = await decide(of, unreachable('job'), { empty: ['job'] });
  assert.deepEqual([empty.verdict, empty.over], ['proved', ['no token in job', '<= 0 faults']]);
});

test('an outcome that must give an empty place a token does not occur', async () => {
  const route = pure('route', { take: { a }, give: oneOf({ b, job }), run: () => ({ b: null }) });
  const of = compile(net('route', { transitions: [route], initial: [initialToken(a, null)] }));
  assert.equal((await decide(of, unreachable('job'), { empty: ['job'] })).verdict, 'proved');
  assert.equal((await decide(of, unreachable('b'), { empty: ['job'] })).verdict, 'refuted');
});

const question = outlet('question', z.string());
const answer = outlet('answer', z.string());

/** Asks through an outlet, and answers if `withAnswer`. */
const asking = (withAnswer: boolean): CompiledNet =>
  compile(
    net('asking', {
      transitions: [
        pure('ask', { take: { a }, give: allOf({ question, b }), run: () => unused() }),
        pure('reply', {
          take: { b },
          give: withAnswer ? allOf({ answer }) : allOf({}),
          run: () => unused(),
        } as never),
      ],
      out: { question, answer },
      initial: [initialToken(a, null)],
    }),
  );

function unused(): never {
  throw new Error('a proof runs no transition');
}

test('a question that leaves through an outlet is open until it is answered', async () => {
  const property = eventuallyAnswered('question', 'answer');
  assert.equal((await decide(asking(false), property)).verdict, 'refuted');
  assert.equal((await decide(asking(true), property)).verdict, 'proved');
});

test('a property that holds until a token leaves through an outlet sees it leave', async () => {
  const property = neverFiresAfter('reply', 'b', { until: 'question' });
  const of = compile(
    net('until', {
      transitions: [
        pure('begin', { take: { a }, give: allOf({ b, job }), run: () => unused() }),
        pure('leave', { take: { job }, give: allOf({ question }), run: () => unused() }),
        pure('reply', { take: { b }, unless: [job], give: allOf({}), run: () => unused() }),
      ] as never,
      out: { question },
      initial: [initialToken(a, null)],
    }),
  );
  assert.equal((await decide(of, property)).verdict, 'proved');
  assert.equal((await decide(of, neverFiresAfter('reply', 'b'))).verdict, 'refuted');
});

const move = (name: string, from: TokenPlace<null>, to: TokenPlace<null>): Transition =>
  pure(name, { take: { from }, give: allOf({ to }), run: () => ({ to: null }) });

const pingPong = compile(
  net('ping-pong', {
    transitions: [move('ping', a, b), move('pong', b, a)],
    initial: [initialToken(a, null)],
  }),
);

/** Runs one settling of a new session. Returns the codes of its faults. */
function faultCodes(of: CompiledNet): readonly string[] {
  const executor = new Executor(of, emptyMarking(), { toFiringId: String });
  executor.begin(0);
  executor.settle(0);
  return executor
    .takeSettled()
    .records.flatMap((record) => (record.kind === 'faulted' ? [record.error.code] : []));
}

test('two transitions that feed each other are a livelock, and the executor refuses a firing', async () => {
  assert.deepEqual(faultCodes(pingPong), ['settle_limit']);
  const { verdict, trace } = await decide(pingPong, settles());
  assert.equal(verdict, 'refuted');
  assert.deepEqual(
    trace?.steps.map(({ transition }) => transition),
    ['ping', 'pong'],
  );
  assert.equal(trace?.circleFrom, 0);
});

test('a fault by the limit of a settling is reachable without any other fault', async () => {
  const { verdict, trace } = await decide(pingPong, unreachable('net.fault'));
  assert.equal(verdict, 'refuted');
  assert.deepEqual(
    trace?.steps.map(({ kind, transition }) => `${kind} ${transition ?? ''}`),
    ['fired ping', 'fired pong', 'faulted ping'],
  );
  assert.deepEqual([trace?.circleFrom, trace?.circleTo], [0, 2]);
  assert.equal((await decide(pingPong, deadlockFree(['a', 'b']))).verdict, 'refuted');
});

test('a property that holds with refused firings is proved for a net with a livelock', async () => {
  const result = await decide(pingPong, placeBound(['a', 'b', 'net.fault'], 1));
  assert.deepEqual([result.verdict, result.by], ['proved', 'search with refused firings']);
});

test('a property that only refused firings may break is not proved', async () => {
  // Of an odd cycle, the limit refuses one certain firing. The search cannot say which tokens the rest of the settling has.
  const c = place('c');
  const of = compile(
    net('grow', {
      transitions: [
        pure('grow', { take: { a }, give: allOf({ a, b }), run: () => ({ a: null, b: null }) }),
        pure('rescue', {
          take: { fault: faultPlace },
          give: allOf({ c }),
          run: () => ({ c: null }),
        }),
      ],
      initial: [initialToken(a, null)],
    }),
  );
  const { verdict } = await decide(of, unreachable('c'), { states: 2_000 });
  assert.equal(verdict, 'unknown');
});

test('a settling that adds tokens without end is a livelock', async () => {
  const grow = pure('grow', {
    take: { a },
    give: allOf({ a, b }),
    run: () => ({ a: null, b: null }),
  });
  const of = compile(net('grow', { transitions: [grow], initial: [initialToken(a, null)] }));
  assert.deepEqual(faultCodes(of), ['settle_limit']);
  const { verdict, trace } = await decide(of, settles());
  assert.equal(verdict, 'refuted');
  assert.deepEqual(
    trace?.steps.map(({ transition }) => transition),
    ['grow'],
  );
});

test('tokens that an inhibitor limits do not grow without end', async () => {
  const grow = pure('grow', {
    take: { a },
    unless: [b],
    give: allOf({ a, b }),
    run: () => ({ a: null, b: null }),
  });
  // By its arcs, `pair` empties the place. It never has two tokens.
  const pair = pure('pair', { take: { b: many(2, b) }, give: allOf({}), run: () => ({}) });
  const of = compile(
    net('inhibited', { transitions: [grow, pair], initial: [initialToken(a, null)] }),
  );
  const { verdict, by } = await decide(of, settles());
  assert.deepEqual([verdict, by, faultCodes(of)], ['proved', 'search for livelocks', []]);
});

test('a cycle through an effect, an input or a delay is no livelock, and a delay of 0 is one', async () => {
  const around = effect('around', {
    take: { b },
    give: allOf({ a }),
    failed: () => ({ a: null }),
    run: async () => ({ a: null }),
  });
  const initial = [initialToken(a, null)];
  const through = (back: Transition): CompiledNet =>
    compile(net('through', { transitions: [move('go', a, b), back], initial }));
  const later = (after: number): Transition =>
    pure('later', { take: { b }, give: allOf({ a }), after, run: () => ({ a: null }) });
  const verdicts = [];
  for (const back of [around, later(5), later(0)]) {
    const { verdict, by } = await decide(through(back), settles());
    verdicts.push(`${verdict}, ${by}`);
  }
  assert.deepEqual(verdicts, [
    'proved, structure',
    'proved, structure',
    'refuted, search for livelocks',
  ]);
  assert.deepEqual(faultCodes(through(later(0))), ['settle_limit']);
  assert.deepEqual(faultCodes(through(later(5))), []);
});

test('an effect that is started and canceled without end is a livelock', async () => {
  const begin = effect('begin', {
    take: { a },
    give: allOf({ b }),
    failed: () => ({ b: null }),
    run: async () => ({ b: null }),
  });
  const cancel = pure('cancel', {
    take: { firing: running(begin) },
    give: allOf({ a }),
    run: () => ({ a: null }),
  });
  const of = compile(
    net('cancel', { transitions: [begin, cancel], initial: [initialToken(a, null)] }),
  );
  assert.deepEqual(faultCodes(of), ['settle_limit']);
  assert.equal((await decide(of, settles())).verdict, 'refuted');
});

test('a fault that is repaired without end is a livelock if any number of faults is allowed', async () => {
  const repair = pure('repair', {
    take: { fault: faultPlace },
    give: allOf({ a }),
    run: () => ({ a: null }),
  });
  const of = compile(
    net('repair', { transitions: [move('go', a, b), repair], initial: [initialToken(a, null)] }),
  );
  const { results } = await prove(of, { properties: [settles()], bounds: {}, route: 'search' });
  assert.equal(results[0]?.verdict, 'refuted');
  assert.equal((await decide(of, settles(), { faults: 3 })).verdict, 'proved');
});

test('a livelock behind an input and a result of an effect replays from the start', async () => {
  const ask = effect('ask', {
    take: { asked },
    give: oneOf({ a, job }),
    failed: () => ({ job: { id: 'j' } }),
    run: async () => ({ a: null }),
  });
  const of = compile(net('behind', { transitions: [ask, move('ping', a, b), move('pong', b, a)] }));
  const { verdict, trace } = await decide(of, settles());
  assert.equal(verdict, 'refuted');
  assert.equal(trace?.circleFrom, 3);
  const broken = await decide(of, atMost(['ping'], 3));
  assert.equal(broken.verdict, 'refuted');
  assert.equal((await decide(of, unreachable('net.fault'))).verdict, 'refuted');
});

test('a livelock behind the fault of an initial token without a key is found, with no other fault', async () => {
  const [left, right] = [place('left', z.string()), place('right', z.string())];
  const getKey = (token: string): string => {
    if (token === 'broken') throw new Error('no key');
    return token;
  };
  const of = compile(
    net('broken-key', {
      initial: [initialToken(left, 'broken'), initialToken(right, 'key')],
      transitions: [
        pure('join', {
          take: { left: matching(left, getKey), right: matching(right, getKey) },
          give: allOf({}),
          run: () => ({}),
        }),
        pure('repair', {
          take: { fault: faultPlace },
          give: allOf({ a }),
          run: () => ({ a: null }),
        }),
        pure('repeat', { take: { a }, give: allOf({ a }), run: () => ({ a: null }) }),
      ],
    }),
  );
  assert.equal((await decide(of, settles())).verdict, 'refuted');
});

test('after too many firings of a settling, the executor may also refuse a timed transition', () => {
  const of = compile(
    net('timed', {
      initial: [initialToken(a, null)],
      transitions: [
        pure('wait', { after: 1_000, take: { a }, give: allOf({ b }), run: () => ({ b: null }) }),
      ],
    }),
  );
  const expanded = expand(of, { faults: 0 });
  const kinds = (refuses: boolean): readonly string[] => {
    const system = new TransitionSystem(expanded, 'ordered', new Set(), undefined, { refuses });
    return system.successors(system.initial()).moves.map(({ kind }) => kind);
  };
  assert.deepEqual(kinds(false), ['fired']);
  assert.deepEqual(kinds(true), ['fired', 'faulted']);
});

/** A fork whose two timed transitions give a place that the bounds keep empty: neither of them fires. */
function forkWithoutOutcome(): CompiledNet {
  const ask = place('ask', z.string(), { environment: true });
  const [left, right, end] = [place('left'), place('right'), place('end')];
  const run = (): never => assert.fail('not run');
  return compile(
    net('fork', {
      in: { ask },
      transitions: [
        pure('fork', { take: { ask }, give: allOf({ left, right }), run }),
        pure('from-left', { take: { left }, give: allOf({ end }), after: 10, run }),
        pure('from-right', { take: { right }, give: allOf({ end }), after: 10, run }),
        pure('end', { take: { end }, give: allOf({}), run }),
      ],
    }),
  );
}
const withoutEnd: Bounds = { environment: { ask: 1 }, faults: 0, empty: ['end'] };
const onlyComponent = { shared: [], ports: [], children: [] };

test('a transition without an outcome takes no token of a group of places', async () => {
  const fork = forkWithoutOutcome();
  const rests = deadlockFree([{ marked: [], allowed: ['ask'] }]);
  assert.equal((await decide(fork, rests, withoutEnd)).verdict, 'refuted');
  const limits = { states: 1000, endsAt: Infinity };
  const check = new ContractCheck(expand(fork, withoutEnd), onlyComponent, limits, 0);
  assert.ok([...check.prove()].every(({ verdict }) => verdict === 'proved'));
  assert.equal(check.decide(rests).holds, false);
});

test('a transition without an outcome is reported as never fired, by contracts too', async () => {
  const options = {
    properties: [deadlockFree([{ marked: [], allowed: ['ask', 'left', 'right'] }])],
    bounds: withoutEnd,
  };
  const report = await prove(forkWithoutOutcome(), { ...options, components: onlyComponent });
  assert.deepEqual(
    report.results.map(({ verdict, by }) => [verdict, by]),
    [['proved', 'contracts']],
  );
  const searched = await prove(forkWithoutOutcome(), { ...options, route: 'search' });
  assert.deepEqual(report.unfired, searched.unfired);
  assert.ok(report.unfired?.includes('from-left'));
});

/** What contracts and a search of the whole net say of each property. */
async function decideTwice(
  of: CompiledNet,
  components: ComponentTree,
  properties: readonly SearchedProperty[],
  bounds: Bounds,
): Promise<readonly (readonly [follows: boolean, proved: boolean])[]> {
  const limits = { states: 10_000, endsAt: Number.POSITIVE_INFINITY };
  const check = new ContractCheck(expand(of, bounds), components, limits);
  for (const { verdict } of check.prove()) assert.equal(verdict, 'proved');
  const { results } = await prove(of, { properties, bounds, route: 'search' });
  return properties.map((one, index) => [
    check.decide(one).holds,
    results[index]?.verdict === 'proved',
  ]);
}

const few = { faults: 0, shutdowns: false };

test('a contract sees what a firing gives back to a place outside the view', async () => {
  const loop = pure('c/loop', {
    take: { asked, a },
    give: allOf({ a, b }),
    run: () => ({ a: null, b: null }),
  });
  const of = compile(net('loop', { initial: [initialToken(a, null)], transitions: [loop] }));
  const keepsA: NetComponent = {
    name: 'c',
    places: ['a', 'asked'],
    transitions: ['c/loop'],
    contract: {
      initial: 'always',
      events: [{ name: 'takes', promisedBy: 'component', on: { takes: ['a'], by: 'component' } }],
      steps: { always: {} },
    },
    children: [],
  };
  const tree: ComponentTree = { shared: [], ports: [], children: [keepsA] };
  assert.deepEqual(await decideTwice(of, tree, [unreachable('b'), atMost(['c/loop'], 0)], few), [
    [false, false],
    [false, false],
  ]);
});

test('a firing that gives on more tokens than a port counts is not left out of a view', async () => {
  const of = compile(
    net('moves', {
      initial: [initialToken(a, null, 3)],
      transitions: [
        pure('move', {
          take: { tokens: all(a) },
          give: allOf({ moved: each('tokens', b), done: place('done') }),
          run: ({ tokens }) => ({ moved: tokens, done: null }),
        }),
        pure('clear', { take: { tokens: all(b) }, give: allOf({}), run: () => ({}) }),
      ],
    }),
  );
  const mover: NetComponent = {
    name: 'mover',
    places: ['a', 'b'],
    transitions: ['move'],
    contract: {
      initial: 'always',
      events: [{ name: 'moves', promisedBy: 'component', on: { gives: ['b'], by: 'component' } }],
      steps: { always: { moves: 'always' } },
    },
    children: [],
  };
  const tree: ComponentTree = { shared: [], ports: [], children: [mover] };
  assert.deepEqual(await decideTwice(of, tree, [unreachable('done'), atMost(['move'], 0)], few), [
    [false, false],
    [false, false],
  ]);
});

/** One component with the transition "exchange" and two ports, which the proof of the core looks at as well. */
function exchanging(contract: NetComponent['contract']): ComponentTree {
  const places = ['a', 'b'];
  const component = { name: 'exchange', places, transitions: ['exchange'], contract, children: [] };
  return { shared: [], ports: places, children: [component] };
}

test('a firing that gives on the tokens of a port elsewhere is the same event in every view', async () => {
  const [c, go] = [place('c'), place('go')];
  const of = compile(
    net('exchange', {
      initial: [initialToken(a, null), initialToken(b, null, 2), initialToken(go, null)],
      transitions: [
        pure('exchange', {
          take: { one: all(a), other: all(b) },
          give: allOf({ first: each('one', b), second: each('other', c) }),
          run: ({ one, other }) => ({ first: one, second: other }),
        }),
        pure('start', { take: { c, go }, give: allOf({}), run: () => ({}) }),
      ],
    }),
  );
  const tree = exchanging({
    initial: 'always',
    events: [{ name: 'takes', promisedBy: 'component', on: { takes: ['b'], by: 'component' } }],
    steps: { always: {} },
  });
  assert.deepEqual(await decideTwice(of, tree, [neverFiresAfter(['start'], 'c')], few), [
    [false, false],
  ]);
});

test('a firing that exchanges the tokens of two ports fills the one that had less, however many they are', async () => {
  const of = compile(
    net('exchange', {
      initial: [initialToken(a, null, 100), initialToken(b, null, 200)],
      transitions: [
        pure('exchange', {
          take: { one: all(a, { min: 1 }), other: all(b, { min: 1 }) },
          give: allOf({ first: each('one', b), second: each('other', a) }),
          run: ({ one, other }) => ({ first: one, second: other }),
        }),
      ],
    }),
  );
  const tree = exchanging({
    initial: 'always',
    events: [
      { name: 'fills', promisedBy: 'component', on: { gives: ['a', 'b'], by: 'component' } },
    ],
    steps: { always: {} },
  });
  const limits = { states: 10_000, endsAt: Number.POSITIVE_INFINITY };
  const check = new ContractCheck(expand(of, few), tree, limits);
  assert.ok([...check.prove()].some(({ verdict }) => verdict !== 'proved'));
});

test('a firing that gives back all tokens of a place does not empty it, in every view', async () => {
  const [go, done] = [place('go'), place('done')];
  const of = compile(
    net('exchange', {
      initial: [initialToken(a, null), initialToken(b, null), initialToken(go, null)],
      transitions: [
        pure('exchange', {
          take: { go, b, one: all(a) },
          give: allOf({ first: each('one', a), b, done }),
          run: ({ one }) => ({ first: one, b: null, done: null }),
        }),
        pure('start', { take: { done }, give: allOf({}), run: () => ({}) }),
      ],
    }),
  );
  for (const keeps of [true, false]) {
    const tree = exchanging({
      initial: 'full',
      events: [
        { name: 'empties', promisedBy: 'component', on: { empties: ['a'], by: 'component' } },
        { name: 'tells', promisedBy: 'component', on: { gives: ['done'], by: 'component' } },
      ],
      steps: keeps
        ? { full: { tells: 'full' } }
        : { full: { empties: 'empty' }, empty: { tells: 'empty' } },
    });
    const limits = { states: 10_000, endsAt: Number.POSITIVE_INFINITY };
    const check = new ContractCheck(expand(of, few), tree, limits);
    const isProved = [...check.prove()].every(({ verdict }) => verdict === 'proved');
    assert.deepEqual(
      [isProved, check.decide(neverFiresAfter(['start'], 'a')).holds],
      [keeps, false],
    );
  }
});

/** Two workers with the same contract. The clerk asks one again only while the other has not begun. */
function workers(): CompiledNet {
  const ask = (name: string): TokenPlace<null> => place(`${name}.ask`);
  const answer = (name: string): TokenPlace<null> => place(`${name}.answer`);
  const paper = (name: string): TokenPlace<null> => place(`${name}.paper`, { environment: true });
  const [again, pens, pen] = [place('again'), place('pens'), place('pen')];
  const askAgain = (name: string, other: string): Transition =>
    pure(`ask.${name}`, {
      take: { answer: answer(name), again },
      read: { other: ask(other) },
      give: allOf({ ask: ask(name) }),
      run: () => ({ ask: null }),
    });
  return compile(
    net('workers', {
      initial: [
        initialToken(a, null),
        initialToken(again, null, 3),
        initialToken(pens, null),
        initialToken(pen, null),
      ],
      transitions: [
        pure('ask.both', {
          take: { a },
          give: allOf({ many: ask('many'), once: ask('once') }),
          run: () => ({ many: null, once: null }),
        }),
        askAgain('many', 'once'),
        askAgain('once', 'many'),
        pure('many/work', {
          take: { ask: ask('many'), paper: paper('many') },
          read: { pens },
          give: allOf({ answer: answer('many') }),
          run: () => ({ answer: null }),
        }),
        pure('once/work', {
          take: { ask: ask('once'), paper: paper('once'), pen },
          give: allOf({ answer: answer('once') }),
          run: () => ({ answer: null }),
        }),
      ],
    }),
  );
}

const worker = (name: string, tool: string, asks: 'environment' | undefined): NetComponent => ({
  name,
  places: [`${name}.ask`, `${name}.paper`, tool],
  transitions: [`${name}/work`],
  contract: {
    initial: 'free',
    events: [
      {
        name: 'asked',
        promisedBy: 'environment',
        on: { gives: [`${name}.ask`], ...(asks !== undefined && { by: asks }) },
      },
      {
        name: 'answers',
        promisedBy: 'component',
        on: { gives: [`${name}.answer`], by: 'component' },
      },
    ],
    steps: { busy: { answers: 'free' }, free: { asked: 'busy' } },
  },
  children: [],
});

test('children are exchanged only if the same events set them to work', async () => {
  const ports = ['many', 'once'].flatMap((name) => [`${name}.ask`, `${name}.answer`]);
  // Whoever asks the second worker: its work is paid for once, at the start.
  const children = [worker('many', 'pens', 'environment'), worker('once', 'pen', undefined)];
  const counts = [2, 4, 5].map((max) => atMost(['many/work', 'once/work'], max));
  const bounds = { ...few, environment: { 'many.paper': 4, 'once.paper': 1 } };
  const [two, four, five] = await decideTwice(
    workers(),
    { shared: [], ports, children },
    counts,
    bounds,
  );
  assert.deepEqual(
    [two, four],
    [
      [false, false],
      [false, false],
    ],
  );
  assert.equal(five?.[1], true);
});

test('a retry takes no token, so it does not renew a count', async () => {
  const [go, done, first] = [place('go'), place('done'), place('first')];
  const again = effect('again', {
    take: { go },
    give: allOf({ done }),
    retry: { attempts: 2, backoff: '1s..1s' },
    failed: () => ({ done: null }),
    run: async () => ({ done: null }),
  });
  const of = compile(
    net('retried', {
      initial: [initialToken(go, null)],
      transitions: [
        again,
        pure('one', { take: { asked }, give: allOf({ first }), run: () => ({ first: null }) }),
        pure('two', {
          take: { first, more: place('more', { environment: true }) },
          unless: [done],
          give: allOf({ b }),
          run: () => ({ b: null }),
        }),
      ],
    }),
  );
  const per = { per: 'running(again)' };
  const properties = [precedes('one', ['two'], per), precedes('two', ['one'], per)];
  const tree: ComponentTree = { shared: [], ports: [], children: [] };
  assert.deepEqual(await decideTwice(of, tree, properties, few), [
    [true, true],
    [false, false],
  ]);
});

test('a token that a firing takes from a place that it also resets is one token, not two', async () => {
  const joined = place('joined');
  const property = joinedOrDeadLettered({ from: 'a', joined: 'joined' });
  const initial = [initialToken(a, null)];
  const from = { take: { a }, reset: [a] };
  const once = pure('once', { ...from, give: allOf({ joined }), run: () => ({ joined: null }) });
  const twice = pure('twice', {
    ...from,
    give: allOf({ joined, again: joined }),
    run: () => ({ joined: null, again: null }),
  });
  for (const [join, verdict] of [
    [once, 'proved'],
    [twice, 'refuted'],
  ] as const) {
    const of = compile(net('reset', { initial, transitions: [join] }));
    assert.equal((await decide(of, property)).verdict, verdict);
  }
});

test('a name that a property repeats counts no token again', async () => {
  const joined = place('joined');
  const merge = pure('merge', {
    take: { pair: many(2, a) },
    give: allOf({ joined }),
    run: () => ({ joined: null }),
  });
  const of = compile(net('merging', { initial: [initialToken(a, null, 2)], transitions: [merge] }));
  for (const deadLetters of [[], ['joined'], ['joined', 'joined'], ['net.fault', 'joined']]) {
    const property = joinedOrDeadLettered({ from: 'a', joined: 'joined', deadLetters });
    assert.equal((await decide(of, property)).verdict, 'refuted');
  }
  assert.equal((await decide(of, placeBound(['a', 'a', 'joined'], 2))).verdict, 'proved');
  assert.throws(() => mutualExclusion('a', 'a'), /two different places/);
});

test('a repeated answer answers one question', async () => {
  const [question, answer] = [place('question'), place('answer')];
  const ask = pure('ask', {
    take: { a },
    give: allOf({ one: question, other: question }),
    run: () => ({ one: null, other: null }),
  });
  const reply = pure('reply', {
    take: { both: many(2, question) },
    give: allOf({ answer }),
    run: () => ({ answer: null }),
  });
  const of = compile(
    net('asking', { initial: [initialToken(a, null)], transitions: [ask, reply] }),
  );
  for (const answered of [['answer'], ['answer', 'answer'], ['reply'], ['reply', 'reply']])
    assert.equal((await decide(of, eventuallyAnswered('question', answered))).verdict, 'refuted');
});

test('a name with a label stands for firings that take such a token, and not for those that reset it', async () => {
  const call = place('call', z.object({ tool: z.string() }), { label: ({ tool }) => tool });
  const [more, next, ended] = [place('more'), place('next'), place('ended')];
  const first = pure('first', {
    take: { call },
    reset: [call],
    give: allOf({ next }),
    run: () => ({ next: null }),
  });
  const last = pure('last', {
    take: { next },
    give: allOf({ ended }),
    run: () => ({ ended: null }),
  });
  const add = pure('add', {
    take: { more },
    give: allOf({ call }),
    labels: [{ output: 'call', only: ['charge', 'refund'] }],
    run: () => ({ call: { tool: 'charge' } }),
  });
  const of = compile(
    net('resets', {
      initial: [initialToken(call, { tool: 'refund' }), initialToken(call, { tool: 'charge' })],
      transitions: [first, last, add],
    }),
  );
  // The executor takes the older call, of `refund`, and drops that of `charge`.
  for (const [property, verdict] of [
    [precedes('first(charge)', 'last'), 'refuted'],
    [precedes('first(refund)', 'last'), 'proved'],
    [eventually('first(charge)'), 'refuted'],
    [eventually('first(refund)'), 'proved'],
    [atMost(['first(charge)'], 0), 'proved'],
    [atMost(['first(refund)'], 0), 'refuted'],
  ] as const)
    assert.equal((await decide(of, property)).verdict, verdict, property.name);
});

test('a counterexample shows the tokens of an outlet that break its property', async () => {
  const out = outlet('out', z.unknown());
  const emit = pure('emit', {
    take: { a },
    give: allOf({ some: upTo(2, out) }),
    run: () => ({ some: [] }),
  });
  const of = compile(
    net('emitting', { out: { out }, initial: [initialToken(a, null)], transitions: [emit] }),
  );
  const cache = new Map();
  for (let run = 0; run < 2; run++) {
    const properties = [eventOutBounded('out', 1)];
    const { results } = await prove(of, { properties, bounds: { faults: 0 }, cache });
    assert.deepEqual(results[0]?.trace?.steps[0]?.gives, { out: 2 });
  }
});

test('an end with a label is not reached by tokens with another label', async () => {
  const call = place('call', z.object({ tool: z.string() }), { label: ({ tool }) => tool });
  const ask = pure('ask', {
    take: { a },
    give: allOf({ call }),
    labels: [{ output: 'call', only: ['refund'], known: ['charge'] }],
    run: () => ({ call: { tool: 'refund' } }),
  });
  const of = compile(net('asks', { initial: [initialToken(a, null)], transitions: [ask] }));
  for (const [joined, deadLetters, verdict] of [
    ['call(charge)', [], 'refuted'],
    ['call(refund)', [], 'proved'],
    ['call(charge)', ['call(refund)'], 'proved'],
    ['call(refund)', ['call'], 'proved'],
  ] as const) {
    const property = joinedOrDeadLettered({ from: 'a', joined, deadLetters });
    assert.equal((await decide(of, property)).verdict, verdict, property.name);
  }
});

test('a place may have the name of a member of every object', async () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    const from = place(name, { environment: true });
    const move = pure('move', {
      take: { from },
      give: allOf({ moved: upTo(2, b) }),
      run: () => ({ moved: [null] }),
    });
    const of = compile(net('members', { transitions: [move] }));
    const result = await decide(of, unreachable({ b: 1 }));
    assert.deepEqual(result.trace?.markings, [{}, Object.fromEntries([[name, 1]]), { b: 1 }]);
    const { excluded } = await prove(of, { properties: [unreachable('b')], route: 'solver' });
    assert.deepEqual(excluded, []);
  }
});

test('a place whose name looks like a name with a label is this place', async () => {
  const call = place('call', z.object({ tool: z.string() }), { label: ({ tool }) => tool });
  const other = place('call(pay)');
  const ask = pure('ask', {
    take: { a },
    give: allOf({ call, other }),
    labels: [{ output: 'call', only: ['look'], known: ['pay'] }],
    run: () => ({ call: { tool: 'look' }, other: null }),
  });
  const of = compile(net('alike', { initial: [initialToken(a, null)], transitions: [ask] }));
  assert.equal((await decide(of, eventOutBounded('call(pay)', 0))).verdict, 'refuted');
  assert.equal((await decide(of, eventOutBounded('call(look)', 0))).verdict, 'refuted');
});
