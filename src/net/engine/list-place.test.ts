import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as z from 'zod';
import {
  assertSameMarking,
  ExecutorHarness,
  restore,
} from '../../../test/nets/executor-harness.ts';
import { allOf, append, oneOf, replacePrefix, truncate } from '../language/arcs.ts';
import { net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { listPlace, place } from '../language/place.ts';
import { effect, pure } from '../language/transition.ts';

const history = listPlace('history', z.string());
const say = place('say', z.string(), { environment: true });
const compact = place('compact', z.number(), { environment: true });
const rewind = place('rewind', z.number(), { environment: true });
const ask = place('ask', { environment: true });
const told = place('told', z.string());

const speak = pure('speak', {
  take: { say },
  give: allOf({ said: append(history) }),
  run: ({ say }) => ({ said: [say] }),
});
const shorten = pure('shorten', {
  take: { compact },
  read: { history },
  give: oneOf({ shorter: replacePrefix(history) }),
  run: ({ compact: length, history }) => ({
    shorter: { length, item: `(${history.slice(0, length).join('')})` },
  }),
});
const forget = pure('forget', {
  take: { rewind },
  give: oneOf({ kept: truncate(history) }),
  run: ({ rewind: length }) => ({ kept: { length } }),
});
/** An effect that reads the list and whose result the test decides. */
const think = effect('think', {
  take: { ask },
  read: { history },
  retry: { attempts: 2, backoff: '1s..1s' },
  give: oneOf({ told, shorter: replacePrefix(history) }),
  failed: ({ message }) => ({ told: message }),
  run: async () => ({ told: '' }),
});
const talk: Net = net('talk', { transitions: [speak, shorten, forget, think] });

function spoken(words: string): ExecutorHarness {
  const harness = new ExecutorHarness(talk);
  for (const word of words) harness.inject(say, word);
  harness.settle(0);
  return harness;
}

test('a list place exists before it has items', () => {
  const harness = new ExecutorHarness(talk);
  harness.inject(ask);
  harness.settle(0);
  assert.deepEqual(harness.attempt('think').tokens, { ask: null, history: [] });
});

test('a list is read as a frozen view that later changes of the list do not reach', () => {
  const harness = spoken('ab');
  harness.inject(ask);
  harness.inject(ask);
  harness.settle();
  const [first, second] = [...harness.running.values()].map(({ tokens }) => tokens['history']);
  assert.ok(Array.isArray(first));
  assert.equal(first, second, 'attempts between two appends share one view');
  assert.throws(() => first.push('x'), TypeError);
  assert.throws(() => (first[0] = 'x'), TypeError);
  assert.notEqual(first, harness.list(history));
  harness.inject(say, 'c');
  harness.settle();
  assert.deepEqual(harness.list(history), ['a', 'b', 'c']);
  assert.deepEqual(first, ['a', 'b']);
  harness.inject(ask);
  harness.settle();
  assert.deepEqual([...harness.running.values()].at(-1)?.tokens['history'], ['a', 'b', 'c']);
  harness.inject(rewind, 0);
  harness.inject(say, 'd');
  harness.settle();
  assert.deepEqual(harness.list(history), ['d']);
  assert.deepEqual(first, ['a', 'b']);
});

test('appends, cuts of the start and cuts of the end apply in order', () => {
  const harness = spoken('abcd');
  harness.inject(compact, 3);
  harness.inject(say, 'e');
  harness.settle();
  assert.deepEqual(harness.list(history), ['(abc)', 'd', 'e']);
  harness.inject(rewind, 1);
  harness.inject(say, 'f');
  harness.settle();
  assert.deepEqual(harness.list(history), ['(abc)', 'f']);
});

test('only the change is journaled, however long the list is', () => {
  const harness = spoken('x'.repeat(1000));
  harness.inject(say, 'y');
  const [injected, fired] = harness.settle();
  assert.ok(JSON.stringify([injected, fired]).length < 250);
  harness.inject(compact, 999);
  assert.deepEqual(harness.settle().at(-1), {
    seq: harness.marking.seq,
    at: 0,
    kind: 'fired',
    t: 'shorten',
    take: [['compact', `${harness.marking.seq - 1}.0`]],
    lists: [{ place: 'history', keepLast: 2, prefix: [`(${'x'.repeat(999)})`] }],
  });
});

test('a cut beyond the length of the list is a fault', () => {
  const harness = spoken('ab');
  for (const length of [3, -1, 0.5]) harness.inject(rewind, length);
  harness.settle();
  assert.equal(harness.values('net.fault').length, 3);
  assert.deepEqual(harness.list(history), ['a', 'b']);
});

test('in one firing a cut refers to the list that was read, and appends apply after it', () => {
  const both = pure('both', {
    take: { rewind },
    give: allOf({ said: append(history), kept: truncate(history) }),
    run: ({ rewind: length }) => ({ said: ['!'], kept: { length } }),
  });
  const harness = new ExecutorHarness(net('both', { transitions: [speak, both] }));
  for (const word of 'abc') harness.inject(say, word);
  harness.inject(rewind, 1);
  harness.settle();
  assert.deepEqual(harness.list(history), ['a', '!']);
  assertSameMarking(harness.marking, harness.records);
});

test('every attempt of an effect reads the list from its start, despite later changes', () => {
  for (const meanwhile of [
    (harness: ExecutorHarness) => harness.inject(say, 'z'),
    (harness: ExecutorHarness) => harness.inject(compact, 2),
    (harness: ExecutorHarness) => harness.inject(rewind, 0),
    (harness: ExecutorHarness) => {
      harness.inject(rewind, 0);
      for (const word of 'xyzu') harness.inject(say, word);
    },
  ]) {
    const harness = spoken('abc');
    harness.inject(ask);
    harness.settle(0);
    meanwhile(harness);
    harness.settle(0);
    assertSameMarking(harness.marking, harness.records);
    harness.fail(harness.attempt('think'));
    harness.settle(0);
    for (const again of [harness, harness.replayed(), harness.restored()]) {
      again.settle(1000);
      assert.deepEqual(again.attempt('think').tokens, { ask: null, history: ['a', 'b', 'c'] });
    }
  }
});

test('an effect can cut the list that it read, even when the list has grown since', () => {
  const harness = spoken('abc');
  harness.inject(ask);
  harness.settle(0);
  harness.inject(say, 'd');
  harness.settle(0);
  harness.finish(harness.attempt('think'), { shorter: { length: 3, item: 'S' } });
  harness.settle(0);
  assert.deepEqual(harness.list(history), ['S', 'd']);
});

test('an effect cannot cut a list that another firing cut meanwhile, because it would cut items it did not read', () => {
  const harness = spoken('abc');
  harness.inject(ask);
  harness.settle(0);
  harness.inject(rewind, 0);
  for (const word of 'xyzu') harness.inject(say, word);
  harness.settle(0);
  harness.finish(harness.attempt('think'), { shorter: { length: 3, item: 'S' } });
  harness.settle(0);
  assert.deepEqual(harness.list(history), ['x', 'y', 'z', 'u']);
  assert.match(String(harness.values(told)[0]), /which another firing cut after it was read/);
});

test('a snapshot names its lists, and they are restored from the records that are still needed, after any cuts', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('say' as const), word: fc.string({ minLength: 1, maxLength: 1 }) }),
    fc.record({
      do: fc.constant('compact' as const),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({
      do: fc.constant('rewind' as const),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({ do: fc.constant('ask' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const harness = new ExecutorHarness(talk);
      for (const each of steps) {
        const { length } = harness.list(history);
        if (each.do === 'say') harness.inject(say, each.word);
        else if (each.do === 'ask') harness.inject(ask);
        else
          harness.inject(each.do === 'compact' ? compact : rewind, Math.floor(each.part * length));
        harness.settle(0);
        assertSameMarking(harness.marking, harness.records);
      }
    }),
    { numRuns: 150 },
  );
});

test('a list can be restored from a snapshot after compaction and a rewind', () => {
  const harness = spoken('abc');
  harness.inject(compact, 1);
  harness.inject(rewind, 1);
  harness.settle();
  assert.deepEqual(harness.list(history), ['(a)']);
  assertSameMarking(harness.marking, harness.records);
});

test('a snapshot whose list records are missing is rejected, and the error names the list', () => {
  const harness = spoken('abc');
  const missing = /The journal has only 0 of the 3 items of the list "history"/;
  assert.throws(() => restore(harness.marking, []), missing);
});
