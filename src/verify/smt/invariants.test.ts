import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allOf,
  all,
  many,
  upTo,
  compile,
  initialToken,
  net,
  place,
  type TokenPlace,
  effect,
  pure,
  type Transition,
} from '../../net/index.ts';
import { expand } from '../system/expand.ts';
import { invariants, nullSpace } from './invariants.ts';
import { toRules } from './rules.ts';

const a = place('a');
const b = place('b');
const c = place('c');

/** The invariants of a net of places a, b, c; a begins with two tokens. Counters: p0 = a, p1 = b, p2 = c. */
function proveInvariants(...transitions: readonly Transition[]): readonly string[] {
  const of = compile(
    net('n', {
      in: { a, b, c },
      initial: [initialToken(a, null, 2)],
      transitions: [...transitions],
    }),
  );
  const expanded = expand(of, { faults: 0 });
  const names = expanded.places.map(({ name }) => name);
  const start = (index: number): number => (names[index] === 'a' ? 2 : 0);
  return invariants(expanded, toRules(expanded, false), start, false).map((term) =>
    term.replaceAll(/p(\d+)/g, (_, index: string) => names[Number(index)] ?? ''),
  );
}

const move = (from: TokenPlace<null>, to: TokenPlace<null>, more = {}): Transition =>
  pure(`${from.name}-${to.name}`, {
    take: { from },
    give: allOf({ to }),
    run: () => ({ to: null }),
    ...more,
  });

test('nullSpace returns integer vectors orthogonal to the rows', () => {
  assert.deepEqual(nullSpace([[2, -1, 0]]), [
    [1, 2, 0],
    [0, 0, 1],
  ]);
  assert.deepEqual(
    nullSpace([
      [1, 0],
      [0, 1],
    ]),
    [],
  );
});

test('tokens that only move keep their sum', () => {
  assert.ok(proveInvariants(move(a, b), move(b, a)).includes('(= (+ (* 1 a) (* 1 b)) 2)'));
});

test('a weight counts in the sum', () => {
  const pair = pure('pair', {
    take: { a: many(2, a) },
    give: allOf({ b }),
    run: () => ({ b: null }),
  });
  assert.ok(proveInvariants(pair).includes('(= (+ (* 1 a) (* 2 b)) 2)'));
});

test('a reset, an `all` input and an output of variable number break the sum', () => {
  const sums = (transition: Transition): boolean =>
    proveInvariants(move(a, b), transition).some((term) => /\ba\b.*\bb\b/.test(term));
  assert.ok(sums(move(b, a)));
  assert.ok(!sums(move(c, a, { reset: [b] })));
  assert.ok(
    !sums(pure('all', { take: { b: all(b) }, give: allOf({ a }), run: () => ({ a: null }) })),
  );
  assert.ok(
    !sums(pure('many', { take: { c }, give: allOf({ a: upTo(2, a) }), run: () => ({ a: [] }) })),
  );
});

test('an effect in flight holds its token', () => {
  const run = effect('run', {
    take: { a },
    give: allOf({ b }),
    failed: () => ({ b: null }),
    run: async () => ({ b: null }),
  });
  assert.ok(
    proveInvariants(run).some((term) => term.includes('running(run)') && term.endsWith(' 2)')),
    proveInvariants(run).join(),
  );
});
