import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  all,
  allOf,
  compile,
  effect,
  faultPlace,
  initialToken,
  matching,
  net,
  optional,
  place,
  pure,
} from '../../net/index.ts';
import type { CompiledNet, Transition } from '../../net/index.ts';
import type { Bounds } from '../properties/bounds.ts';
import {
  atMostOnce,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
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
    reductions: { slicing: false },
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
  const { results } = await prove(of, {
    properties: [property],
    bounds,
    reductions: { slicing: true },
  });
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

test('with the slicing off, the whole net is searched', async () => {
  const of = build(acquire, release);
  const { results } = await prove(of, {
    properties: [placeBound(['lock', 'held'], 1)],
    bounds: { faults: 0 },
    reductions: { slicing: false },
  });
  assert.equal(results[0]?.by, 'search');
});
