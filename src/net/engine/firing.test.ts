import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { emptyMarking } from '../journal/marking.ts';
import type { Token } from '../journal/marking.ts';
import { all, allOf, each, many, matching, oneOf, optional, upTo } from '../language/arcs.ts';
import { UnknownPlaceError, TokenSchemaError } from '../language/net-errors.ts';
import { initialToken, net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { place } from '../language/place.ts';
import { effect, pure, running } from '../language/transition.ts';
import type { Transition } from '../language/transition.ts';

const of = (...transitions: readonly Transition[]): Net => net('test', { transitions });
const word = place('word', z.string(), { environment: true });
const said = place('said', z.string());

test('enabledness is evaluated after every firing: of two commits with an inhibitor on each other, one fires', () => {
  const slow = place('race.slow', { environment: true });
  const fast = place('race.fast', { environment: true });
  const sent = place('race.sent', z.string());
  const commit = (name: string, from: typeof slow): Transition =>
    pure(name, {
      take: { from },
      unless: [sent],
      give: oneOf({ sent }),
      run: () => ({ sent: name }),
    });
  const harness = new ExecutorHarness(of(commit('commit.slow', slow), commit('commit.fast', fast)));
  harness.inject(fast);
  harness.inject(slow);
  harness.settle();
  assert.deepEqual(harness.values(sent), ['commit.fast']);
  assert.equal(harness.values(slow).length, 1);
});

test('a token that a firing took is unavailable to transitions that were enabled earlier', () => {
  const permit = place('permit');
  const first = pure('first', {
    take: { permit, word },
    give: oneOf({ said }),
    run: ({ word }) => ({ said: word }),
  });
  const second = { ...first, name: 'second' };
  const harness = new ExecutorHarness(
    net('permit', { transitions: [first, second], initial: [initialToken(permit, null)] }),
  );
  harness.inject(word, 'a');
  harness.inject(word, 'b');
  harness.settle();
  assert.deepEqual(harness.values(said), ['a']);
  assert.deepEqual(harness.values(word), ['b']);
});

test('transitions fire by priority, then by longest enabled, then by order in the net', () => {
  const log = place('log', z.string());
  const step = (name: string, from: typeof word, priority: number): Transition =>
    pure(name, {
      take: { from },
      priority,
      give: oneOf({ log }),
      run: ({ from }) => ({ log: `${name}:${from}` }),
    });
  const early = place('early', z.string(), { environment: true });
  const urgent = place('urgent', z.string(), { environment: true });
  const harness = new ExecutorHarness(
    of(step('word', word, 0), step('early', early, 0), step('urgent', urgent, 1)),
  );
  harness.inject(early, '1');
  harness.inject(word, '2');
  harness.inject(early, '3');
  harness.inject(urgent, '4');
  harness.settle();
  assert.deepEqual(harness.values(log), ['urgent:4', 'early:1', 'word:2', 'early:3']);
});

test('a newly enabled transition of lower priority waits, and one of higher priority fires at once', () => {
  const order: string[] = [];
  const [middle, low, end] = ['middle', 'low', 'end'].map((name) => place(name, z.string()));
  assert.ok(middle && low && end);
  const pass = (name: string, from: typeof said, to: typeof said, priority: number): Transition =>
    pure(name, {
      take: { from },
      priority,
      give: oneOf({ to }),
      run: ({ from }) => {
        order.push(`${name} ${from}`);
        return { to: from };
      },
    });
  const harness = new ExecutorHarness(
    of(pass('a', word, middle, 0), pass('b', middle, low, 1), pass('c', low, end, -1)),
  );
  harness.inject(word, '1');
  harness.inject(word, '2');
  harness.settle();
  assert.deepEqual(order, ['a 1', 'b 1', 'a 2', 'b 2', 'c 1', 'c 2']);
});

test('"many" takes exactly that many of the oldest tokens, and "all" takes every token', () => {
  const pair = pure('pair', {
    take: { words: many(2, word) },
    give: oneOf({ said }),
    run: ({ words }) => ({ said: words.join('+') }),
  });
  const bell = place('bell', { environment: true });
  const rest = place('rest', z.array(z.string()).readonly());
  const sweep = pure('sweep', {
    take: { bell, words: all(word, { min: 0 }) },
    priority: 1,
    give: oneOf({ rest }),
    run: ({ words }) => ({ rest: words }),
  });
  const harness = new ExecutorHarness(of(pair, sweep));
  for (const letter of 'abc') harness.inject(word, letter);
  harness.settle();
  assert.deepEqual(harness.values(said), ['a+b']);
  harness.inject(word, 'd');
  harness.inject(word, 'e');
  harness.inject(bell);
  harness.settle();
  harness.inject(bell);
  harness.settle();
  assert.deepEqual(harness.values(rest), [['c', 'd', 'e'], []]);
});

test('a read arc requires tokens and does not consume them', () => {
  const fact = place('fact', z.string(), { environment: true });
  const look = pure('look', {
    take: { word },
    read: { fact, facts: all(place('facts', z.string(), { environment: true }), { min: 0 }) },
    give: oneOf({ said }),
    run: ({ word, fact, facts }) => ({ said: [word, fact, ...facts].join(' ') }),
  });
  const harness = new ExecutorHarness(of(look));
  harness.inject(word, 'is');
  harness.settle();
  assert.deepEqual(harness.values(said), []);
  harness.inject(fact, 'true');
  harness.settle();
  harness.inject('facts', 'too');
  harness.inject(word, 'still');
  harness.settle();
  assert.deepEqual(harness.values(said), ['is true', 'still true too']);
  assert.deepEqual(harness.values(fact), ['true']);
});

test('a reset empties its places in the same firing, before the outputs', () => {
  const clear = place('clear', { environment: true });
  const restart = pure('restart', {
    take: { clear },
    reset: [said, word],
    give: oneOf({ said }),
    run: () => ({ said: 'fresh' }),
  });
  const harness = new ExecutorHarness(
    net('reset', {
      transitions: [restart],
      initial: [initialToken(said, 'old', 3), initialToken(word, 'w')],
    }),
  );
  harness.inject(clear);
  harness.settle();
  assert.deepEqual(harness.values(said), ['fresh']);
  assert.deepEqual(harness.values(word), []);
  const [fired] = harness.records.slice(-1);
  assert.ok(fired?.kind === 'fired');
  assert.deepEqual(fired.reset, [
    ['said', '1.0', '1.1', '1.2'],
    ['word', '1.3'],
  ]);
});

test('a place and a firing that a transition resets twice are emptied once', () => {
  const clear = place('clear', { environment: true });
  const send = effect('send', {
    take: { word },
    give: allOf({}),
    failed: () => ({}),
    run: async () => ({}),
  });
  const restart = pure('restart', {
    take: { clear },
    reset: [said, running(send), said, running(send)],
    give: allOf({}),
    run: () => ({}),
  });
  const harness = new ExecutorHarness(
    net('reset', {
      transitions: [send, restart],
      initial: [initialToken(said, 'old', 2), initialToken(word, 'w')],
    }),
  );
  harness.settle();
  harness.inject(clear);
  harness.settle();
  assert.deepEqual(harness.values(said), []);
  assert.equal(harness.marking.firings.size, 0);
  const [fired] = harness.records.slice(-1);
  assert.ok(fired?.kind === 'fired');
  assert.deepEqual(fired.reset, [['said', '1.0', '1.1']]);
});

test('a reset that empties a place enables the transitions that the place inhibited', () => {
  const clear = place('clear', { environment: true });
  const wait = pure('wait', { take: { word }, unless: [said], give: allOf({}), run: () => ({}) });
  const restart = pure('restart', {
    take: { clear },
    reset: [said],
    give: allOf({}),
    run: () => ({}),
  });
  const harness = new ExecutorHarness(
    net('reset', { transitions: [wait, restart], initial: [initialToken(said, 'x')] }),
  );
  harness.inject(word, 'w');
  harness.settle();
  assert.equal(harness.values(word).length, 1);
  harness.inject(clear);
  harness.settle();
  assert.equal(harness.values(word).length, 0);
});

const Result = z.object({ batch: z.string(), value: z.number() });
const batch = place('batch.open', z.string(), { environment: true });
const result = place('batch.result', Result, { environment: true });
const done = place('batch.done', z.string());

test('a join by key takes exactly the tokens of one batch', () => {
  const joinBatch = pure('batch.join', {
    take: {
      batch: matching(batch, (id) => id),
      results: matching(many(2, result), (r) => r.batch),
    },
    give: oneOf({ done }),
    run: ({ batch, results }) => ({
      done: `${batch}:${results.map((r) => r.value).join('+')}`,
    }),
  });
  const harness = new ExecutorHarness(of(joinBatch));
  harness.inject(batch, 'a');
  harness.inject(batch, 'b');
  for (const [id, value] of [
    ['b', 1],
    ['a', 2],
    ['b', 3],
  ] as const) {
    harness.inject(result, { batch: id, value });
  }
  harness.settle();
  assert.deepEqual(harness.values(done), ['b:1+3']);
  harness.inject(result, { batch: 'a', value: 4 });
  harness.settle();
  assert.deepEqual(harness.values(done), ['b:1+3', 'a:2+4']);
});

test('a join by key with an "all" input can match no token of it', () => {
  const close = pure('batch.close', {
    take: {
      results: matching(all(result, { min: 0 }), (r) => r.batch),
      batch: matching(batch, (id) => id),
    },
    give: oneOf({ done }),
    run: ({ batch, results }) => ({ done: `${batch}:${results.length}` }),
  });
  const harness = new ExecutorHarness(of(close));
  harness.inject(result, { batch: 'b', value: 1 });
  harness.inject(batch, 'a');
  harness.inject(batch, 'b');
  harness.settle();
  assert.deepEqual(harness.values(done), ['a:0', 'b:1']);
});

test('a key function that throws removes the token it threw for, and no other', () => {
  const joinBatch = pure('batch.join', {
    take: {
      batch: matching(batch, (id) => {
        if (id === 'poison') throw new Error('no key');
        return id;
      }),
      result: matching(result, (r) => r.batch),
    },
    give: oneOf({ done }),
    run: ({ batch }) => ({ done: batch }),
  });
  const harness = new ExecutorHarness(of(joinBatch));
  harness.inject(batch, 'poison');
  harness.inject(batch, 'a');
  harness.inject(result, { batch: 'a', value: 1 });
  harness.settle();
  assert.deepEqual(harness.values(done), ['a']);
  assert.deepEqual(harness.values('net.fault'), [
    {
      transition: 'batch.join',
      code: 'error',
      message: 'no key',
      inputs: { 'batch.open': ['poison'] },
    },
  ]);
});

test('a key function that throws is a fault at once, even while the transition waits for other tokens', () => {
  const never = place('never', z.string(), { environment: true });
  const join = pure('batch.join', {
    take: {
      batch: matching(batch, () => assert.fail('no key')),
      result: matching(result, (r) => r.batch),
      never,
    },
    give: oneOf({ done }),
    run: ({ batch }) => ({ done: batch }),
  });
  const harness = new ExecutorHarness(of(join));
  harness.inject(batch, 'poison');
  harness.settle();
  assert.deepEqual(
    (harness.values('net.fault') as readonly { readonly inputs: unknown }[]).map(
      ({ inputs }) => inputs,
    ),
    [{ 'batch.open': ['poison'] }],
  );
});

test('outputs can be one of several, several, up to a number, one for each input, or none', () => {
  const odd = place('odd', z.number());
  const copies = place('copies', z.number());
  const maybe = place('maybe', z.number());
  const numbers = place('numbers', z.number(), { environment: true });
  const route = pure('route', {
    take: { numbers: all(numbers) },
    give: oneOf({
      odd,
      rest: allOf({ copies: upTo(3, copies), maybe: optional(maybe), echo: each('numbers', odd) }),
    }),
    run: ({ numbers }) =>
      numbers.length === 1
        ? { odd: numbers[0] ?? 0 }
        : { rest: { copies: numbers.slice(1), echo: numbers.map((n) => -n) } },
  });
  const harness = new ExecutorHarness(of(route));
  harness.inject(numbers, 1);
  harness.settle();
  harness.inject(numbers, 2);
  harness.inject(numbers, 3);
  harness.settle();
  assert.deepEqual(harness.values(odd), [1, -2, -3]);
  assert.deepEqual(harness.values(copies), [3]);
  assert.deepEqual(harness.values(maybe), []);
});

test('an output that does not match its declaration or its place is a fault, and no token is added', () => {
  const outcomes: Readonly<Record<string, unknown>> = {
    nothing: undefined,
    unknown: { said: 'x', nope: 1 },
    two: { said: 'x', word: 'y' },
    none: {},
    schema: { said: 5 },
    lossy: { said: () => 'x' },
  };
  const give = pure('give', {
    take: { word },
    give: oneOf({ said, word }),
    run: ({ word }) => outcomes[word] as never,
  });
  const harness = new ExecutorHarness(of(give));
  for (const key of Object.keys(outcomes)) harness.inject(word, key);
  harness.settle();
  assert.deepEqual(harness.values(said), []);
  const faults = harness.values('net.fault') as { inputs: { word: string[] }; code: string }[];
  assert.deepEqual(
    faults.map(({ inputs, code }) => [inputs.word[0], code]),
    [
      ['nothing', 'output'],
      ['unknown', 'output'],
      ['two', 'output'],
      ['none', 'output'],
      ['schema', 'token_schema'],
      ['lossy', 'token_schema'],
    ],
  );
});

test('more tokens than upTo allows, or a number that differs from each, is a fault', () => {
  const give = pure('give', {
    take: { words: many(2, word) },
    give: oneOf({ few: upTo(1, said), same: each('words', said) }),
    run: ({ words }) => (words[0] === 'few' ? { few: ['a', 'b'] } : { same: ['a'] }),
  });
  const harness = new ExecutorHarness(of(give));
  for (const key of ['few', 'few', 'same', 'same']) harness.inject(word, key);
  harness.settle();
  const faults = harness.values('net.fault') as { message: string }[];
  assert.deepEqual(
    faults.map(({ message }) => message),
    [
      'Transition "give" returned 2 tokens for "few", but declares at most 1.',
      'Transition "give" took 2 tokens as "words" but returned 1 for "same"; expected one for each.',
    ],
  );
});

test('a transition receives frozen values, as the journal returns them', () => {
  const Doc = z.object({ when: z.coerce.date(), tags: z.array(z.string()).default([]) });
  const doc = place('doc', Doc, { environment: true });
  const seen: unknown[] = [];
  const look = pure('look', {
    take: { doc },
    give: allOf({}),
    run: ({ doc }) => {
      seen.push(doc);
      doc.tags.push('changed');
      return {};
    },
  });
  const inject = (harness: ExecutorHarness): void => harness.inject(doc, { when: new Date(0) });
  const live = new ExecutorHarness(of(look));
  inject(live);
  live.take();
  const recovered = live.replayed();
  live.settle();
  recovered.settle();
  const value = { when: '1970-01-01T00:00:00.000Z', tags: [] };
  assert.deepEqual(seen, [value, value]);
  assert.equal(live.values('net.fault').length, 1);
  assert.deepEqual(recovered.values('net.fault'), live.values('net.fault'));
});

test('only environment places accept input, and the input must match the schema', () => {
  const listen = pure('listen', {
    take: { word },
    give: oneOf({ said }),
    run: ({ word }) => ({ said: word }),
  });
  const harness = new ExecutorHarness(of(listen));
  assert.throws(() => harness.inject(said, 'x'), UnknownPlaceError);
  assert.throws(() => harness.inject('nowhere', 'x'), UnknownPlaceError);
  assert.throws(() => harness.inject(word, 5), TokenSchemaError);
  assert.deepEqual(harness.summary, []);
  harness.settle();
  assert.deepEqual(harness.summary, ['injected']);
});

test('a pure transition knows its firing and the time of the firing, and has no clock', () => {
  const tell = pure('tell', {
    take: { word },
    give: oneOf({ said }),
    run: (_, { firingId, at }) => ({ said: `${firingId} at ${at}` }),
  });
  const harness = new ExecutorHarness(of(tell));
  harness.inject(word, 'x');
  harness.settle(500);
  assert.deepEqual(harness.values(said), ['f3 at 500']);
});

test('the times of records never decrease', () => {
  const listen = pure('listen', {
    take: { word },
    give: oneOf({ said }),
    run: ({ word }) => ({ said: word }),
  });
  const harness = new ExecutorHarness(of(listen));
  for (const now of [100, 50, 200, 0]) {
    harness.now = now;
    harness.inject(word, 'x');
    harness.settle();
  }
  assert.deepEqual(
    harness.records.map(({ at }) => at),
    [0, 100, 100, 100, 100, 200, 200, 200, 200],
  );
});

test('a pure transition that returns a promise is a fault, however the promise settles', async () => {
  const wait: Transition = {
    ...pure('wait', { take: { word }, give: oneOf({ said }), run: () => ({ said: '' }) }),
    run: async () => {
      throw new Error('later');
    },
  };
  const harness = new ExecutorHarness(of(wait));
  harness.inject(word, 'x');
  harness.settle();
  await new Promise(setImmediate);
  const [fault] = harness.values('net.fault') as { message: string }[];
  assert.match(fault?.message ?? '', /returned a promise/);
});

test('after a firing only affected transitions are evaluated, however large the net is', () => {
  const evaluated: string[] = [];
  const places = Array.from({ length: 200 }, (_, n) =>
    place(`word.${n}`, z.string(), { environment: true }),
  );
  const pairs = places.map((from, n) =>
    pure(`pair.${n}`, {
      take: {
        two: matching(many(2, from), (key) => {
          evaluated.push(`pair.${n}`);
          return key;
        }),
      },
      give: oneOf({ said }),
      run: ({ two }) => ({ said: two.join() }),
    }),
  );
  const harness = new ExecutorHarness(of(...pairs));
  for (const from of places) harness.inject(from, 'x');
  harness.settle();
  evaluated.length = 0;
  harness.inject('word.7', 'x');
  harness.settle();
  assert.deepEqual(harness.values(said), ['x,x']);
  assert.deepEqual(new Set(evaluated), new Set(['pair.7']));
});

test('of tokens of one record the earlier one counts as older, even beyond a million tokens', () => {
  const log = place('log', z.string());
  const crowd = place('crowd');
  const later = place('later');
  const step = (name: string, from: typeof crowd): Transition =>
    pure(name, { take: { from }, give: oneOf({ log }), run: () => ({ log: name }) });
  const token = (id: string): Token => ({ kind: 'token', id, at: 0, value: null });
  const marking = emptyMarking();
  marking.seq = 2;
  marking.tokens.set(crowd.name, [token('1.1000001'), token('1.2000000')]);
  marking.tokens.set(later.name, [token('2.0')]);
  const harness = new ExecutorHarness(of(step('later', later), step('first', crowd)), marking);
  harness.settle();
  assert.deepEqual(harness.values(log), ['first', 'first', 'later']);
});
