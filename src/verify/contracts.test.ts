import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  all,
  allOf,
  compile,
  effect,
  initialToken,
  many,
  net,
  oneOf,
  place,
  pure,
  upTo,
} from '../net/index.ts';
import type { CompiledNet } from '../net/index.ts';
import {
  atMost,
  deadlockFree,
  formatReport,
  isProved,
  mutualExclusion,
  neverFiresAfter,
  neverTakes,
  placeBound,
  prove,
  unreachable,
  UnknownNameError,
} from './index.ts';
import type { NetComponent, ComponentTree, Contract } from './index.ts';

const orders = place('orders', { environment: true });
const idle = place('idle');

const worker = (name: string) => ({
  ask: place(`${name}.ask`),
  answer: place(`${name}.answer`),
});
const a = worker('a');
const b = worker('b');

/** A clerk gives an order to worker a, then to worker b, and is idle again. */
function office({ skips = false, batches = false } = {}): CompiledNet {
  const work = (name: string, { ask, answer }: typeof a) =>
    effect(`${name}.work`, {
      take: { ask },
      give: oneOf({ answer, again: ask }),
      failed: () => ({ again: null }),
      run: () => Promise.resolve({ answer: null }),
    });
  return compile(
    net('office', {
      in: { orders, idle, aAsk: a.ask, bAsk: b.ask, aAnswer: a.answer, bAnswer: b.answer },
      initial: [initialToken(idle, null)],
      transitions: [
        pure('clerk.begin', {
          take: skips ? { orders } : { orders, idle },
          give: allOf({ ask: a.ask }),
          run: () => ({ ask: null }),
        }),
        pure('clerk.next', {
          take: { answer: a.answer },
          give: allOf({ ask: b.ask }),
          run: () => ({ ask: null }),
        }),
        pure('clerk.end', {
          take: { answer: b.answer },
          give: allOf({ idle }),
          run: () => ({ idle: null }),
        }),
        work('a', a),
        work('b', b),
        ...(batches
          ? [
              pure('a.batch', {
                take: { asks: many(2, a.ask) },
                give: allOf({ answer: a.answer }),
                run: () => ({ answer: null }),
              }),
            ]
          : []),
      ],
    }),
  );
}

const contract = ({ ask, answer }: typeof a): Contract => ({
  initial: 'free',
  events: [
    {
      name: 'asked',
      promisedBy: 'environment',
      on: { gives: [ask.name], by: 'environment' },
    },
    {
      name: 'answers',
      promisedBy: 'component',
      on: { gives: [answer.name], by: 'component' },
    },
  ],
  steps: { free: { asked: 'asked' }, asked: { answers: 'free' } },
});

const component = (name: string, ports: typeof a): NetComponent => ({
  name,
  places: [ports.ask.name, `running(${name}.work)`],
  transitions: [`${name}.work`],
  contract: contract(ports),
  children: [],
});

const components: ComponentTree = {
  shared: [],
  ports: [a.ask.name, b.ask.name],
  children: [component('a', a), component('b', b)],
};

const bounds = { environment: { orders: 2 }, faults: 0 };
const properties = [
  deadlockFree([{ marked: ['idle'] }]),
  mutualExclusion('running(a.work)', 'running(b.work)'),
  placeBound('running(a.work)', 1),
];

test('properties follow from contracts, and equal components are searched once', async () => {
  const report = await prove(office(), { properties, bounds, components });
  assert.ok(isProved(report), formatReport(report));
  assert.deepEqual(
    report.results.map(({ by }) => by),
    ['contracts', 'contracts', 'contracts'],
  );
  assert.deepEqual(
    report.contracts?.map(({ component: name, verdict, sameAs }) => [name, verdict, sameAs]),
    [
      ['a', 'proved', undefined],
      ['b', 'proved', 'a'],
      ['core', 'proved', undefined],
    ],
  );
  assert.match(formatReport(report), /✔ b: proved \(same as a\)/);
  const whole = await prove(office(), { properties, bounds });
  assert.equal(whole.contracts, undefined);
  assert.deepEqual(
    report.results.map(({ verdict }) => verdict),
    whole.results.map(({ verdict }) => verdict),
  );
});

test('if a neighbor does not keep its promise, the whole net is searched, and a refutation has a trace', async () => {
  const report = await prove(office({ skips: true }), { properties, bounds, components });
  const core = report.contracts?.at(-1);
  assert.equal(core?.verdict, 'unknown');
  assert.match(
    core.reason ?? '',
    /"clerk.begin" may break the contract of "a": asked in state asked/,
  );
  assert.deepEqual(
    report.results.map(({ verdict, by }) => [verdict, by.startsWith('search')]),
    [
      ['proved', true],
      ['refuted', true],
      ['refuted', true],
    ],
  );
  assert.ok(
    report.results.every(({ verdict, trace }) => verdict !== 'refuted' || trace !== undefined),
  );
});

test('a contract that the component does not keep proves nothing', async () => {
  const silent: Contract = { ...contract(a), steps: { free: { asked: 'asked' }, asked: {} } };
  const report = await prove(office(), {
    properties,
    bounds,
    components: {
      ...components,
      children: [{ ...component('a', a), contract: silent }, component('b', b)],
    },
  });
  assert.match(report.contracts?.[0]?.reason ?? '', /answers in state asked/);
  assert.ok(report.results.every(({ by }) => by !== 'contracts'));
});

test('a net that may fire without end by its arcs is not proved through contracts', async () => {
  const ping = place('ping');
  const pong = place('pong');
  const endless = compile(
    net('endless', {
      initial: [initialToken(ping, null)],
      transitions: [
        pure('to', { take: { ping }, give: allOf({ pong }), run: () => ({ pong: null }) }),
        pure('fro', { take: { pong }, give: allOf({ ping }), run: () => ({ ping: null }) }),
      ],
    }),
  );
  const report = await prove(endless, {
    properties: [placeBound('ping', 1)],
    components: { shared: [], ports: [], children: [] },
  });
  assert.match(report.contracts?.[0]?.reason ?? '', /do not show that a settling ends/);
  assert.ok(report.results.every(({ by }) => by !== 'contracts'));
});

test('a component with an unknown name is refused', async () => {
  const wrong = { ...components, shared: ['nowhere'] };
  await assert.rejects(
    prove(office(), { properties, bounds, components: wrong }),
    (error) => error instanceof UnknownNameError && error.what === 'place "nowhere"',
  );
});

test('a proof by contracts names the transitions that the views never fire', async () => {
  const batching: ComponentTree = {
    ...components,
    children: [{ ...component('a', a), transitions: ['a.work', 'a.batch'] }, component('b', b)],
  };
  const report = await prove(office({ batches: true }), {
    properties,
    bounds,
    components: batching,
  });
  assert.deepEqual(
    report.results.map(({ by, unreached }) => [by, unreached]),
    properties.map(() => ['contracts', ['a.batch']]),
  );
  assert.deepEqual(report.unfired, ['a.batch']);
  assert.deepEqual([isProved(report), isProved(report, { strict: true })], [true, false]);
  assert.match(formatReport(report), /Warning: no explored run fires a\.batch/);
  const whole = await prove(office(), { properties, bounds, components });
  assert.deepEqual([whole.unfired, isProved(whole, { strict: true })], [[], true]);
});

/** A door that a signal closes and another one opens. A signal that changes nothing is refused, unless the net keeps it. */
function door(refusesAlways: boolean): CompiledNet {
  const [opening, closing] = ['open', 'close'].map((name) =>
    place(`${name}.in`, { environment: true }),
  );
  const [opened, closed] = [place('opened'), place('closed')];
  assert.ok(opening !== undefined && closing !== undefined);
  const change = (name: string, asked: typeof opened, from: typeof opened, to: typeof opened) =>
    pure(name, { take: { asked, from }, give: allOf({ to }), run: () => ({ to: null }) });
  const refuse = (name: string, asked: typeof opened) =>
    pure(name, {
      take: { asked },
      unless: refusesAlways ? [] : [closed],
      priority: -1,
      give: allOf({}),
      run: () => ({}),
    });
  return compile(
    net('door', {
      in: { opening, closing },
      initial: [initialToken(closed, null)],
      transitions: [
        change('open', opening, closed, opened),
        change('close', closing, opened, closed),
        refuse('open.refuse', opening),
        refuse('close.refuse', closing),
      ],
    }),
  );
}

test('an input that is always refused at the latest is left out of views, and is empty at rest', async () => {
  const core: ComponentTree = { shared: [], ports: [], children: [] };
  const rests = deadlockFree([{ marked: ['opened'] }, { marked: ['closed'] }]);
  const restsWithSignal = deadlockFree([
    { marked: ['opened'] },
    { marked: ['closed', 'close.in'] },
  ]);
  const options = {
    properties: [rests, placeBound(['opened', 'closed'], 1)],
    bounds: { environment: { 'open.in': 2, 'close.in': 2 }, faults: 0, shutdowns: false },
    components: core,
  };
  const { contracts = [], results } = await prove(door(true), options);
  assert.deepEqual(
    results.map(({ verdict, by }) => `${verdict} by ${by}`),
    ['proved by contracts', 'proved by contracts'],
  );
  // The places of the door and the phase of the search, without the signals.
  assert.ok((contracts[0]?.states ?? 10) <= 4, JSON.stringify(contracts));
  for (const refusesAlways of [true, false]) {
    const report = await prove(door(refusesAlways), {
      ...options,
      properties: [refusesAlways ? restsWithSignal : rests],
    });
    assert.equal(report.results[0]?.verdict, 'refuted');
  }
});

test('a property that depends on the number of inputs is decided in views that have them', async () => {
  const { results } = await prove(door(true), {
    properties: [atMost(['open'], 1)],
    bounds: { environment: { 'open.in': 1, 'close.in': 1 }, faults: 0, shutdowns: false },
    components: { shared: [], ports: [], children: [] },
  });
  assert.deepEqual([results[0]?.verdict, results[0]?.by], ['proved', 'contracts']);
});

test('a question about one of two equal children keeps them apart', async () => {
  const go = place('go', { environment: true });
  const finish = place('finish', { environment: true });
  const work = (name: string, { ask, answer }: typeof a) =>
    effect(`${name}.work`, {
      take: { ask },
      give: allOf({ answer }),
      failed: () => ({ answer: null }),
      run: () => Promise.resolve({ answer: null }),
    });
  const either = compile(
    net('either', {
      in: { go, finish },
      transitions: [
        pure('start', {
          take: { go },
          give: oneOf({ a: a.ask, b: b.ask }),
          run: () => ({ a: null }),
        }),
        work('a', a),
        work('b', b),
        pure('end', {
          take: { finish, a: all(a.answer, { min: 0 }), b: all(b.answer, { min: 0 }) },
          give: allOf({}),
          run: () => ({}),
        }),
      ],
    }),
  );
  const questions = [a, b].flatMap(({ answer, ask }) => [
    neverTakes('end', { from: [answer.name] }),
    unreachable(answer.name),
    placeBound(answer.name, 0),
    neverFiresAfter('end', answer.name),
    neverFiresAfter('end', 'start'),
    neverTakes('end', { from: [ask.name] }),
  ]);
  const report = await prove(either, { properties: questions, bounds: { faults: 0 }, components });
  assert.deepEqual(
    report.contracts?.map(({ verdict }) => verdict),
    ['proved', 'proved', 'proved'],
  );
  assert.deepEqual(
    report.results.map(({ verdict }) => verdict),
    ['a', 'b'].flatMap(() => ['refuted', 'refuted', 'refuted', 'refuted', 'refuted', 'proved']),
  );
});

test('a view that does not count a budget proves what holds for every budget, and another counts it', async () => {
  const [go, budget, ready] = [place('go', { environment: true }), place('budget'), place('ready')];
  const [done, end] = [place('done'), place('end')];
  const compiled = compile(
    net('budget', {
      transitions: [
        pure('begin', {
          take: { go },
          give: allOf({ budget: upTo(10, budget), ready }),
          run: () => ({ budget: [], ready: null }),
        }),
        effect('step', {
          take: { ready, budget },
          give: allOf({ ready, done }),
          failed: () => ({ ready: null, done: null }),
          run: () => Promise.resolve({ ready: null, done: null }),
        }),
        pure('stop', {
          take: { ready },
          unless: [budget],
          give: allOf({ end }),
          run: () => ({ end: null }),
        }),
      ],
    }),
  );
  const report = await prove(compiled, {
    properties: [
      atMost(['step'], 5, { per: 'go' }),
      unreachable({ end: 1, budget: 1 }),
      placeBound('done', 5),
      atMost(['step'], 4, { per: 'go' }),
      placeBound('done', 4),
    ],
    bounds: { upTo: 5, faults: 0, shutdowns: false },
    components: { shared: [], ports: [], children: [] },
  });
  assert.deepEqual(
    report.results.map(({ verdict, by }) => [verdict, by]),
    [
      ['proved', 'contracts'],
      ['proved', 'contracts'],
      ['proved', 'contracts'],
      ['refuted', 'search'],
      ['refuted', 'search'],
    ],
  );
});
