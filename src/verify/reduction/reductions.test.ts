import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allOf,
  compile,
  effect,
  many,
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
  canFire,
  eventually,
  placeBound,
  unreachable,
} from '../properties/create-property.ts';
import type { Property } from '../properties/property.ts';
import { prove } from '../prove.ts';
import { isProved } from '../report.ts';
import type { PropertyResult } from '../report.ts';
import { expand } from '../system/expand.ts';
import type { Reductions } from './reductions.ts';
import { listSmallerNets } from './smaller-bounds.ts';

const request = place('request', { environment: true });
const other = place('other', { environment: true });
const work = place('work');
const done = place('done');
const failed = place('failed');

const split = pure('split', {
  take: { request },
  give: allOf({ work: upTo(9, work) }),
  run: () => ({ work: [] }),
});
const finish = effect('finish', {
  take: { work },
  retry: { attempts: 3, backoff: '1s..2s' },
  give: oneOf({ done, failed }),
  failed: () => ({ failed: null }),
  run: async () => ({ done: null }),
});

const build = (...transitions: readonly Transition[]): CompiledNet =>
  compile(net('reduced', { transitions }));

async function decide(
  of: CompiledNet,
  property: Property,
  bounds: Bounds,
  reductions: Reductions = { after: 0 },
): Promise<PropertyResult | undefined> {
  const options = { properties: [property], bounds, reductions, route: 'search' } as const;
  return (await prove(of, options)).results[0];
}

test('a violation that needs little is found within smaller bounds, and is one within the bounds', async () => {
  const of = build(split, finish);
  const result = await decide(of, unreachable('failed'), { environment: { request: 3 } });
  assert.deepEqual([result?.verdict, result?.by], ['refuted', 'search within smaller bounds']);
  assert.ok(result?.over.includes('<= 3 in request'));
  assert.ok((result?.states ?? 99) < 50, `${result?.states} states`);
  const off = { after: 0, smallerBounds: false };
  const whole = await decide(of, unreachable('failed'), { environment: { request: 3 } }, off);
  assert.deepEqual([whole?.verdict, whole?.by], ['refuted', 'search']);
});

test('a violation that needs the bounds is found within them', async () => {
  const bounds = { environment: { request: 1 }, upTo: 3, faults: 0 };
  const result = await decide(build(split, finish), placeBound('done', 2), bounds);
  assert.deepEqual([result?.verdict, result?.by], ['refuted', 'search']);
});

test('smaller bounds are listed only if they allow fewer runs', () => {
  const list = (bounds: Bounds): number =>
    listSmallerNets(expand(build(split, finish), bounds), bounds).length;
  assert.equal(list({}), 2);
  assert.equal(list({ upTo: 1, faults: 0, attempts: 1, shutdowns: false }), 1);
  assert.equal(list({ upTo: 0, faults: 0, attempts: 1, shutdowns: false }), 0);
});

test('a proof in a slice names the transitions that no run reaches', async () => {
  const far = pure('far', { take: { done, other }, give: allOf({}), run: () => ({}) });
  const beyond = pure('beyond', {
    take: { four: many(4, done) },
    give: allOf({}),
    run: () => ({}),
  });
  const property = placeBound('request', 1);
  const bounds = { environment: { request: 1 }, faults: 0, shutdowns: false };
  const whole = { slicing: false, smallerBounds: false };
  for (const more of [[far], [far, beyond]]) {
    const of = build(split, finish, ...more);
    const options = { properties: [property], bounds, route: 'search' } as const;
    const reduced = await prove(of, { ...options, reductions: { after: 0 } });
    const full = await prove(of, { ...options, reductions: whole });
    const unreached = more.includes(beyond) ? ['beyond'] : [];
    assert.equal(reduced.results[0]?.by, 'search of a slice');
    assert.equal(full.results[0]?.by, 'search');
    for (const report of [reduced, full]) {
      assert.deepEqual(report.results[0]?.unreached ?? [], unreached);
      assert.deepEqual(report.unfired, unreached);
      assert.equal(isProved(report, { strict: true }), unreached.length === 0);
    }
  }
});

const left = pure('left', { take: { work }, give: allOf({ done }), run: () => ({ done: null }) });
const right = pure('right', {
  take: { work },
  give: allOf({ failed }),
  run: () => ({ failed: null }),
});
const begin = pure('begin', {
  take: { request },
  give: allOf({ work }),
  run: () => ({ work: null }),
});
const bounds = { faults: 0, shutdowns: false };
const anyOrder = { after: 0 };
const inOrder = { after: 0, anyOrder: false };

test('an event that happens in every order is proved without ages', async () => {
  const of = build(begin, left, right);
  const either = eventually(['done', 'failed'], { after: 'request' });
  const result = await decide(of, either, bounds, anyOrder);
  assert.deepEqual([result?.verdict, result?.by], ['proved', 'search']);
  const ordered = await decide(of, either, bounds, inOrder);
  assert.deepEqual([ordered?.verdict, ordered?.by], ['proved', 'search in the order of ages']);
});

test('an event that only some orders reach is decided by ages: an order that never happens is no way out', async () => {
  // Both can take the token. The executor always chooses the first of the net.
  const of = build(begin, left, right);
  for (const reductions of [anyOrder, inOrder]) {
    const first = await decide(of, eventually('done', { after: 'request' }), bounds, reductions);
    assert.deepEqual([first?.verdict, first?.by], ['proved', 'search in the order of ages']);
  }
});

test('a trap of every order is confirmed with ages, without a search of all of them', async () => {
  const of = build(begin, left, right);
  const property = eventually('failed', { after: 'request' });
  const found = await decide(of, property, bounds, anyOrder);
  assert.deepEqual([found?.verdict, found?.by], ['refuted', 'search']);
  const ordered = await decide(of, property, bounds, inOrder);
  assert.deepEqual([ordered?.verdict, ordered?.by], ['refuted', 'search in the order of ages']);
});

test('a trap shows the steps that repeat in it', async () => {
  const ping = effect('ping', {
    take: { work },
    give: allOf({ failed }),
    failed: () => ({ failed: null }),
    run: async () => ({ failed: null }),
  });
  const pong = effect('pong', {
    take: { failed },
    give: allOf({ work }),
    failed: () => ({ work: null }),
    run: async () => ({ work: null }),
  });
  const finishLater = pure('finish later', {
    take: { other },
    give: allOf({ done }),
    run: () => ({ done: null }),
  });
  const of = build(begin, ping, pong, finishLater);
  const property = eventually('done', { after: 'request' });
  const result = await decide(of, property, bounds, anyOrder);
  assert.deepEqual([result?.verdict, result?.by], ['refuted', 'search']);
  assert.ok(result?.trace?.circleFrom !== undefined);
});

test('a transition that only some orders fire can fire only if the executor chooses such an order', async () => {
  const of = build(begin, left, right);
  for (const reductions of [anyOrder, inOrder]) {
    assert.equal((await decide(of, canFire('left'), bounds, reductions))?.verdict, 'proved');
    const never = await decide(of, canFire('right'), bounds, reductions);
    assert.deepEqual([never?.verdict, never?.reason], ['refuted', 'never fires: right']);
  }
});

test('a choice without an outcome within the bounds leads nowhere', async () => {
  const idle = pure('idle', {
    take: { work },
    give: oneOf({ failed, both: allOf({ failed, more: optional(done) }) }),
    run: () => ({ failed: null }),
  });
  const of = build(begin, left, idle);
  const property = eventually('done', { after: 'request' });
  const result = await decide(of, property, { ...bounds, empty: ['failed'] }, anyOrder);
  assert.equal(result?.by, 'search in the order of ages');
});

test('a small net needs no reduction', async () => {
  const result = await decide(build(begin, left), atMost(['left'], 1), bounds, {});
  assert.deepEqual([result?.verdict, result?.by], ['proved', 'search']);
});
