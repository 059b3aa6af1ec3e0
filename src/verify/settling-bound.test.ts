import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, Executor, initialToken, net, place, pure } from '../net/index.ts';
import { emptyMarking } from '../net/index.ts';
import type { CompiledNet, Place } from '../net/index.ts';
import { settles, unreachable } from './properties/create-property.ts';
import { prove } from './prove.ts';

type Transitions = Parameters<typeof net>[1]['transitions'];

/** Each token becomes two, on each level. A token of the first place causes 2 ** levels - 1 firings. */
function createDoubling(levels: number): {
  readonly first: Place<null>;
  readonly transitions: Transitions;
} {
  const first = place('level.0');
  const places = [
    first,
    ...Array.from({ length: levels - 1 }, (_, at) => place(`level.${at + 1}`)),
  ];
  const transitions = places.map((from, level) => {
    const to = places[level + 1];
    return to === undefined
      ? pure('end', { take: { from }, give: allOf({}), run: () => ({}) })
      : pure(`split.${level}`, {
          priority: level,
          take: { from },
          give: allOf({ left: to, right: to }),
          run: () => ({ left: null, right: null }),
        });
  });
  return { first, transitions };
}

function doubling(levels: number, times = 1): CompiledNet {
  const { first, transitions } = createDoubling(levels);
  return compile(net('doubling', { initial: [initialToken(first, null, times)], transitions }));
}

/** Tokens of earlier settlings wait for a signal. */
function doublingAfterSignal(levels: number, times: number): CompiledNet {
  const { first, transitions } = createDoubling(levels);
  const [waiting, closed, signal] = [
    place('waiting'),
    place('closed'),
    place('signal', { environment: true }),
  ];
  const open = pure('open', { take: { signal, closed }, give: allOf({}), run: () => ({}) });
  const begin = pure('begin', {
    take: { waiting },
    unless: [closed],
    give: allOf({ first }),
    run: () => ({ first: null }),
  });
  const initial = [initialToken(waiting, null, times), initialToken(closed, null)];
  return compile(net('signal', { initial, transitions: [open, begin, ...transitions] }));
}

/** The clocks of all tokens expire at the same time. */
function doublingAfterDelay(levels: number, times: number): CompiledNet {
  const { first, transitions } = createDoubling(levels);
  const waiting = place('waiting');
  const begin = pure('begin', {
    after: 1_000,
    take: { waiting },
    give: allOf({ first }),
    run: () => ({ first: null }),
  });
  const initial = [initialToken(waiting, null, times)];
  return compile(net('delay', { initial, transitions: [begin, ...transitions] }));
}

/** A binary counter: each increment is a firing, and each carry is one more. */
function counter(bits: number): CompiledNet {
  const zeros = Array.from({ length: bits }, (_, bit) => place(`zero.${bit}`));
  const ones = Array.from({ length: bits }, (_, bit) => place(`one.${bit}`));
  const start = place('add.0');
  const adds = [start, ...ones.map((_, bit) => place(`add.${bit + 1}`))];
  const transitions = zeros.flatMap((zero, bit) => {
    const [one, add = start, carry = start] = [ones[bit] ?? zero, adds[bit], adds[bit + 1]];
    return [
      pure(`set.${bit}`, {
        take: { add, zero },
        give: allOf({ one, start }),
        run: () => ({ one: null, start: null }),
      }),
      pure(`carry.${bit}`, {
        take: { add, one },
        give: allOf({ zero, carry }),
        run: () => ({ zero: null, carry: null }),
      }),
    ];
  });
  const initial = [...zeros, start].map((one) => initialToken(one, null));
  return compile(net('counter', { initial, transitions }));
}

async function listVerdicts(of: CompiledNet): Promise<readonly string[]> {
  const properties = [settles(), unreachable('net.fault')];
  const components = { shared: [], ports: [], children: [] };
  const bounds = { faults: 0, shutdowns: false, states: 2_000 };
  const { results } = await prove(of, { properties, bounds, components, route: 'search' });
  return results.map(({ verdict }) => verdict);
}

/** Runs a net until nothing is due, and returns the number of faults. */
function countFaults(of: CompiledNet, signals: readonly string[] = []): number {
  const executor = new Executor(of, emptyMarking(), { toFiringId: String });
  executor.begin(0);
  executor.settle(0);
  for (const signal of signals) executor.inject(signal, null, 0);
  executor.settle(1_000);
  return executor.takeSettled().records.filter(({ kind }) => kind === 'faulted').length;
}

const TOO_LONG: readonly (readonly [CompiledNet, readonly string[]])[] = [
  [doubling(14), []],
  [counter(14), []],
  [doublingAfterSignal(9, 30), ['signal']],
  [doublingAfterDelay(9, 30), []],
];

const SHORT: readonly (readonly [CompiledNet, readonly string[]])[] = [
  [doubling(4), []],
  [counter(4), []],
  [doubling(6, 250), []],
  [doublingAfterSignal(5, 40), ['signal']],
  [doublingAfterDelay(5, 40), []],
];

for (const [of, signals] of TOO_LONG)
  test(`a settling in which the executor refuses firings is not proved: ${of.name}`, async () => {
    assert.ok(countFaults(of, signals) > 0);
    assert.deepEqual(await listVerdicts(of), ['unknown', 'unknown']);
  });

test('a settling below the limit is proved, however many tokens wait or are due', async () => {
  for (const [of, signals] of SHORT) {
    assert.equal(countFaults(of, signals), 0);
    const verdicts = await listVerdicts(of);
    assert.equal(verdicts[0], 'proved', of.name);
  }
});

test('a delay that is lost when it is added to the time does not end a settling', async () => {
  const [ping, pong] = [place('ping'), place('pong')];
  const transitions = [
    pure('to', {
      after: 1e-5,
      take: { ping },
      give: allOf({ pong }),
      run: () => ({ pong: null }),
    }),
    pure('fro', { take: { pong }, give: allOf({ ping }), run: () => ({ ping: null }) }),
  ];
  const of = compile(net('short delay', { initial: [initialToken(ping, null)], transitions }));
  const executor = new Executor(of, emptyMarking(), { toFiringId: String });
  const now = Date.UTC(2026, 0);
  executor.begin(now);
  executor.settle(now);
  const faults = executor.takeSettled().records.filter(({ kind }) => kind === 'faulted');
  assert.equal(faults.length, 1);
  const { results } = await prove(of, { properties: [settles()], bounds: { faults: 0 } });
  assert.notEqual(results[0]?.verdict, 'proved');
});
