import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  all,
  allOf,
  compile,
  each,
  effect,
  faultPlace,
  initialToken,
  many,
  matching,
  net,
  oneOf,
  optional,
  place,
  pure,
  upTo,
} from '../../net/index.ts';
import type { CompiledNet, Transition } from '../../net/index.ts';
import type { Bounds } from '../properties/bounds.ts';
import {
  atMost,
  atMostOnce,
  deadlockFree,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
  precedes,
  unreachable,
} from '../properties/create-property.ts';
import type { SearchedProperty } from '../properties/property.ts';
import { prove } from '../prove.ts';
import { expand } from '../system/expand.ts';
import { searchSlices } from './search-slices.ts';

const go = place('go');
const lock = place('lock');
const held = place('held');
const done = place('done');
const order = place('order');

function build(...transitions: readonly Transition[]): CompiledNet {
  return compile(net('sliced', { initial: [initialToken(lock, null)], transitions }));
}

async function decide(
  of: CompiledNet,
  property: SearchedProperty,
  bounds: Bounds = {},
): Promise<readonly [inSlices: boolean, verdict: string | undefined]> {
  const found = await searchSlices(expand(of, bounds), property, async () => undefined);
  const { results } = await prove(of, {
    properties: [property],
    bounds,
    route: 'search',
    reductions: { slicing: false, smallerBounds: false },
  });
  return [found !== undefined, results[0]?.verdict];
}

/** Counts up to 30 orders that have nothing to do with the lock. */
const unrelated = [
  pure('count', { take: { order }, give: allOf({ done }), run: () => ({ done: null }) }),
  pure('rest', {
    take: { done, lock },
    give: allOf({ lock, more: optional(go) }),
    run: () => ({ lock: null }),
  }),
];
const acquire = pure('acquire', {
  take: { lock },
  give: allOf({ held }),
  run: () => ({ held: null }),
});
const release = effect('release', {
  take: { held },
  give: allOf({ lock }),
  failed: () => ({ lock: null }),
  run: async () => ({ lock: null }),
});

test('a bound that depends on two places is proved without the rest of the net', async () => {
  const of = build(acquire, release, ...unrelated);
  const property = placeBound(['lock', 'held', 'running(release)'], 1);
  const bounds = { environment: { order: 30 }, faults: 0 };
  const found = await searchSlices(expand(of, bounds), property, async () => undefined);
  assert.ok(found !== undefined && found.states < 10, `${found?.states} states`);
  const { results } = await prove(of, { properties: [property], bounds, reductions: { after: 0 } });
  assert.deepEqual(
    results.map(({ verdict, by }) => [verdict, by]),
    [['proved', 'search of a slice']],
  );
});

test('a violation of the net is a violation of every slice', async () => {
  const twice = pure('twice', {
    take: { lock },
    give: allOf({ held, more: lock }),
    run: () => ({ held: null, more: null }),
  });
  const of = build(twice, release);
  assert.deepEqual(await decide(of, placeBound(['lock', 'held'], 1), { faults: 0 }), [
    false,
    'refuted',
  ]);
});

test('a fault of a transition outside of the slice is not forgotten', async () => {
  const recover = pure('recover', {
    take: { fault: faultPlace },
    give: allOf({ held }),
    run: () => ({ held: null }),
  });
  const elsewhere = pure('elsewhere', { take: { order }, give: allOf({}), run: () => ({}) });
  const of = build(recover, elsewhere);
  const property = unreachable('held');
  const bounds = { environment: { order: 1 } };
  assert.deepEqual(await decide(of, property, { ...bounds, faults: 1 }), [false, 'refuted']);
  assert.deepEqual(await decide(of, property, { ...bounds, faults: 0 }), [true, 'proved']);
});

test('a key function that throws is not forgotten', async () => {
  const join = pure('join', {
    take: { order: matching(order, String), go: matching(go, String) },
    give: allOf({ done }),
    run: () => ({ done: null }),
  });
  const recover = pure('recover', {
    take: { fault: faultPlace },
    give: allOf({ held }),
    run: () => ({ held: null }),
  });
  const of = compile(
    net('keyed', { in: { order, go }, transitions: [join, recover], initial: [] }),
  );
  assert.deepEqual(
    await decide(of, unreachable('held'), { faults: 1, environment: { order: 1 } }),
    [false, 'refuted'],
  );
});

test('a transition that takes all tokens of a key leaves those of another key', async () => {
  const a = place('a', z.string());
  const b = place('b', z.string());
  const join = pure('join', {
    take: { a: matching(a, String), all: matching(all(b, { min: 0 }), String) },
    give: allOf({ done }),
    run: () => ({ done: null }),
  });
  const other = initialToken(b, 'other');
  const of = compile(net('keyed', { in: { a }, transitions: [join], initial: [other] }));
  assert.deepEqual(
    await decide(of, mutualExclusion('b', 'done'), { faults: 0, environment: { a: 1 } }),
    [false, 'refuted'],
  );
});

test('a transition that lost a condition does not hold back one of lower priority', async () => {
  const first = pure('first', {
    take: { lock, go },
    priority: 9,
    give: allOf({ done }),
    run: () => ({ done: null }),
  });
  const of = build(first, acquire);
  assert.deepEqual(await decide(of, unreachable('held'), { faults: 0 }), [false, 'refuted']);
});

test('a place that fills without end is counted up to a cap, and is still empty after a drain', async () => {
  const fill = effect('fill', {
    take: { lock },
    give: allOf({ lock, held }),
    failed: () => ({ lock: null, held: null }),
    run: async () => ({ lock: null, held: null }),
  });
  const drain = pure('drain', {
    take: { order, held: all(held) },
    give: allOf({ done }),
    run: () => ({ done: null }),
  });
  const of = build(fill, drain);
  const bounds = { environment: { order: 1 }, faults: 0, states: 500 };
  const property = atMostOnce('drain');
  const found = await searchSlices(expand(of, bounds), property, async () => undefined);
  assert.ok(found !== undefined);
  assert.deepEqual(await decide(of, mutualExclusion('held', 'lock'), bounds), [false, 'refuted']);
  assert.deepEqual(await decide(of, neverFiresAfter('fill', 'done'), bounds), [false, 'refuted']);
});

test('an output that moves all tokens of a place does not lose those above its cap', async () => {
  const fill = pure('fill', {
    take: { order },
    give: allOf({ done }),
    run: () => ({ done: null }),
  });
  const move = pure('move', {
    take: { go, all: all(done, { min: 1 }) },
    give: allOf({ held: each('all', held) }),
    run: () => ({ held: [] }),
  });
  const lend = pure('lend', {
    take: { lock },
    give: allOf({ held: upTo(3, held) }),
    run: () => ({ held: [] }),
  });
  const spend = pure('spend', { take: { three: many(3, held) }, give: allOf({}), run: () => ({}) });
  const of = compile(
    net('moved', { in: { order, go, lock }, transitions: [fill, move, lend, spend] }),
  );
  const bounds = { faults: 0, environment: { order: 3, go: 1 } };
  assert.deepEqual(await decide(of, atMost(['spend'], 0), bounds), [false, 'refuted']);
});

/** Adds tokens without end, and uses one at a time. */
const growing = [
  effect('poll', {
    take: { lock },
    give: oneOf({ more: allOf({ lock, held }), end: done }),
    failed: () => ({ end: null }),
    run: async () => ({ end: null }),
  }),
  effect('use', {
    take: { held },
    concurrency: 1,
    give: allOf({}),
    failed: () => ({}),
    run: async () => ({}),
  }),
];

test('a net with a place that grows without end is proved to stop only where it may', async () => {
  const of = build(...growing);
  const bounds = { faults: 0, states: 2_000 };
  assert.deepEqual(await decide(of, deadlockFree(['done']), bounds), [true, 'unknown']);
  assert.deepEqual(await decide(of, deadlockFree(['held']), bounds), [false, 'refuted']);
});

test('an order of events is proved in a slice', async () => {
  const of = build(acquire, release, ...unrelated);
  const bounds = { environment: { order: 3 }, faults: 0 };
  const inOrder = precedes('acquire', ['release'], { each: true });
  assert.deepEqual(await decide(of, inOrder, bounds), [true, 'proved']);
  assert.deepEqual(await decide(of, precedes('count', ['rest']), bounds), [true, 'proved']);
  assert.deepEqual(await decide(of, precedes('release', ['acquire']), bounds), [false, 'refuted']);
});

test('the work of an earlier generation is followed in a slice', async () => {
  const stale = (work: readonly string[]): SearchedProperty => ({
    kind: 'neverStale',
    name: 'not stale',
    commits: ['acquire'],
    renewals: ['count'],
    work,
  });
  const of = build(acquire, release, ...unrelated);
  const bounds = { environment: { order: 2 }, faults: 0 };
  assert.deepEqual(await decide(of, stale(['running(release)']), bounds), [true, 'proved']);
  assert.deepEqual(await decide(of, stale(['lock']), bounds), [false, 'refuted']);
});

test('with the slicing off, the whole net is searched', async () => {
  const of = build(acquire, release);
  const { results } = await prove(of, {
    properties: [placeBound(['lock', 'held'], 1)],
    bounds: { faults: 0 },
    reductions: { after: 0, slicing: false },
  });
  assert.equal(results[0]?.by, 'search');
});
