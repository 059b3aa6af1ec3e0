/**
 * Eight false properties that a known verifier reports as proved. Each is refuted here, with a trace that ran on the executor. The
 * corrected net, for which the property is proved, follows each one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  all,
  allOf,
  many,
  matching,
  oneOf,
  upTo,
  compile,
  initialToken,
  net,
  place,
  type AnyPlace,
  type TokenPlace,
  effect,
  pure,
  running,
  type Effect,
  type Transition,
} from '../net/index.ts';
import {
  atMost,
  atMostOneCommits,
  deadlockFree,
  joinedOrDeadLettered,
  mutualExclusion,
  placeBound,
  unreachable,
} from './properties/create-property.ts';
import type { Property } from './properties/property.ts';
import { prove } from './prove.ts';
import type { PropertyResult } from './report.ts';
import { UnknownNameError } from './properties/verify-errors.ts';

const a = place('a');
const b = place('b');
const c = place('c');
const d = place('d');

async function decide(
  transitions: readonly Transition[],
  initial: readonly (readonly [TokenPlace<null>, number])[],
  property: Property,
  faults = 0,
): Promise<PropertyResult> {
  const of = net('n', {
    in: { a, b, c, d },
    transitions,
    initial: initial.map(([at, times]) => initialToken(at, null, times)),
  });
  const { results } = await prove(compile(of), { properties: [property], bounds: { faults } });
  const [result] = results;
  assert.ok(result !== undefined);
  return result;
}

const move = (name: string, from: TokenPlace<null>, to: TokenPlace<null>): Transition =>
  pure(name, { take: { from }, give: allOf({ to }), run: () => ({ to: null }) });

test('a marking that is reachable only by a reset is not proved unreachable', async () => {
  const property = unreachable({ d: 1 }, ['a', 'b']);
  const clear = (reset: readonly TokenPlace<null>[]): Transition =>
    pure('clear', { take: { c }, reset, give: allOf({ d }), run: () => ({ d: null }) });
  const nets = (reset: readonly TokenPlace<null>[]): Promise<PropertyResult> =>
    decide(
      [move('go', a, b), clear(reset)],
      [
        [a, 1],
        [c, 1],
      ],
      property,
    );
  assert.equal((await nets([a, b])).verdict, 'refuted');
  assert.equal((await nets([])).verdict, 'proved');
});

test('a marking that is reachable only through an "all" input is not proved unreachable', async () => {
  const property = unreachable({ b: 1 }, ['a']);
  const collapse = pure('collapse', {
    take: { a: all(a) },
    give: allOf({ b }),
    run: () => ({ b: null }),
  });
  assert.equal(
    (await decide([collapse], [[a, 3]], unreachable({ b: 1 }, ['a']))).verdict,
    'refuted',
  );
  const one = pure('one', {
    take: { a: many(2, a) },
    give: allOf({ b }),
    run: () => ({ b: null }),
  });
  assert.equal((await decide([one], [[a, 3]], property)).verdict, 'proved');
});

test('a net that an inhibitor blocks at once is not proved free of deadlocks', async () => {
  const guardedMove = (unless: readonly TokenPlace<null>[]): Transition =>
    pure('go', { take: { a }, unless, give: allOf({ c }), run: () => ({ c: null }) });
  const property = deadlockFree(['c', 'b']);
  const stopped = await decide(
    [guardedMove([b])],
    [
      [a, 1],
      [b, 1],
    ],
    property,
  );
  assert.equal(stopped.verdict, 'refuted');
  assert.deepEqual(stopped.trace?.steps, []);
  assert.deepEqual(stopped.trace?.marking, { a: 1, b: 1 });
  assert.equal(
    (
      await decide(
        [guardedMove([])],
        [
          [a, 1],
          [b, 1],
        ],
        property,
      )
    ).verdict,
    'proved',
  );
});

test('a net that a weight blocks at once is not proved free of deadlocks', async () => {
  const pair = pure('pair', {
    take: { a: many(2, a) },
    give: allOf({ b }),
    run: () => ({ b: null }),
  });
  assert.equal((await decide([pair], [[a, 1]], deadlockFree(['b']))).verdict, 'refuted');
  assert.equal((await decide([pair], [[a, 4]], deadlockFree(['b']))).verdict, 'proved');
});

test('an inhibitor that is evaluated at the start does not make two committing effects exclusive', async () => {
  const commits = ['commit.fast', 'commit.slow'];
  const asEffect = (name: string, from: TokenPlace<null>): Effect =>
    effect(name, {
      take: { from },
      unless: [d],
      give: allOf({ sent: c }),
      failed: () => ({ sent: null }),
      run: async () => ({ sent: null }),
    });
  const asPure = (name: string, from: TokenPlace<null>): Transition =>
    pure(name, { take: { from }, unless: [d], give: allOf({ d }), run: () => ({ d: null }) });
  const note = move('note', c, d);
  const property = atMostOneCommits(commits);
  const both = await decide(
    [asEffect('commit.fast', a), asEffect('commit.slow', b), note],
    [
      [a, 1],
      [b, 1],
    ],
    property,
  );
  assert.equal(both.verdict, 'refuted');
  assert.deepEqual(
    both.trace?.steps.map(({ kind, transition }) => `${kind} ${transition ?? ''}`),
    ['started commit.fast', 'started commit.slow'],
  );
  const one = await decide(
    [asPure('commit.fast', a), asPure('commit.slow', b)],
    [
      [a, 1],
      [b, 1],
    ],
    property,
  );
  assert.equal(one.verdict, 'proved');
});

test('a budget of three tokens from one output is three rounds, not one', async () => {
  const seed = (most: number): Transition =>
    pure('seed', {
      take: { a },
      give: allOf({ budget: upTo(most, b) }),
      run: () => ({ budget: [null] }),
    });
  const round = pure('round', {
    take: { budget: b },
    give: allOf({ c }),
    run: () => ({ c: null }),
  });
  const rounds = (most: number, max: number): Promise<PropertyResult> =>
    decide([seed(most), round], [[a, 1]], atMost(['round'], max));
  assert.equal((await rounds(3, 1)).verdict, 'refuted');
  assert.equal((await rounds(3, 3)).verdict, 'proved');
});

test('a barge-in that does not cancel the running effect does not exclude it', async () => {
  const speak = effect('speak', {
    take: { a },
    unless: [d],
    give: allOf({ c }),
    failed: () => ({ c: null }),
    run: async () => ({ c: null }),
  });
  const bargeIn = (reset: readonly AnyPlace[]): Transition =>
    pure('barge-in', {
      take: { b },
      reset,
      give: allOf({ listening: d }),
      run: () => ({ listening: null }),
    });
  const property = mutualExclusion('running(speak)', 'd');
  const start = [[a, 1]] as const;
  const from = (reset: readonly AnyPlace[]): Promise<PropertyResult> =>
    decideWith([speak, bargeIn(reset)], start, property, { b: 1 });
  assert.equal((await from([])).verdict, 'refuted');
  assert.equal((await from([running(speak)])).verdict, 'proved');
});

test('a join whose branch may fail is not proved to end joined or dead-lettered', async () => {
  const fork = pure('fork', {
    take: { a },
    give: allOf({ b, c }),
    run: () => ({ b: null, c: null }),
  });
  const join = pure('join', { take: { b, c }, give: allOf({ d }), run: () => ({ d: null }) });
  const options = { from: 'a', joined: 'd', through: ['b', 'c'] };
  const strict = joinedOrDeadLettered(options);
  const faults = await decide([fork, join], [[a, 2]], strict, 1);
  assert.equal(faults.verdict, 'refuted');
  assert.ok(faults.trace?.steps.some(({ kind }) => kind === 'faulted'));
  const withDeadLetters = joinedOrDeadLettered({ ...options, deadLetters: ['net.fault'] });
  assert.equal((await decide([fork, join], [[a, 2]], withDeadLetters, 1)).verdict, 'proved');
});

test('a misspelled name in a property is an error that lists the known names', async () => {
  const misspelt = joinedOrDeadLettered({ from: 'a', joined: 'joind' });
  await assert.rejects(decide([move('go', a, b)], [[a, 1]], misspelt), (error: unknown) => {
    assert.ok(error instanceof UnknownNameError);
    assert.match(error.message, /no place "joind": it has .*\ba\b/);
    return true;
  });
  await assert.rejects(
    decide([move('go', a, b)], [[a, 1]], atMost(['goo'], 1)),
    /no transition "goo": it has go/,
  );
});

test('a join by key is not proved to end when keys need not match', async () => {
  const Keyed = z.object({ key: z.string() });
  const left = place('left', Keyed, { environment: true });
  const right = place('right', Keyed, { environment: true });
  const joinByKey = pure('join', {
    take: { left: matching(left, ({ key }) => key), right: matching(right, ({ key }) => key) },
    give: oneOf({ done: d }),
    run: () => ({ done: null }),
  });
  const of = net('keyed', { transitions: [joinByKey] });
  const { results } = await prove(compile(of), { properties: [deadlockFree(['d'])] });
  assert.equal(results[0]?.verdict, 'refuted');
});

test('properties that the same marking breaks are all refuted, also in one search', async () => {
  const of = net('n', { transitions: [move('go', a, b)], initial: [initialToken(a, null, 1)] });
  const properties = [deadlockFree(['a']), unreachable({ b: 1 }), placeBound('b', 0)];
  const { results } = await prove(compile(of), { properties, bounds: { faults: 0 } });
  assert.deepEqual(
    results.map(({ verdict }) => verdict),
    ['refuted', 'refuted', 'refuted'],
  );
});

async function decideWith(
  transitions: readonly Transition[],
  initial: readonly (readonly [TokenPlace<null>, number])[],
  property: Property,
  environment: Readonly<Record<string, number>>,
): Promise<PropertyResult> {
  const of = net('n', {
    in: { a, b, c, d },
    transitions,
    initial: initial.map(([at, times]) => initialToken(at, null, times)),
  });
  const bounds = { faults: 0, environment };
  const { results } = await prove(compile(of), { properties: [property], bounds });
  const [result] = results;
  assert.ok(result !== undefined);
  return result;
}
