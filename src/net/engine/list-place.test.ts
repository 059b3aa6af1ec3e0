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
  const play = new ExecutorHarness(talk);
  for (const word of words) play.inject(say, word);
  play.settle(0);
  return play;
}

test('a list place exists before it has items', () => {
  const play = new ExecutorHarness(talk);
  play.inject(ask);
  play.settle(0);
  assert.deepEqual(play.attempt('think').tokens, { ask: null, history: [] });
});

test('appends, cuts of the start and cuts of the end apply in order', () => {
  const play = spoken('abcd');
  play.inject(compact, 3);
  play.inject(say, 'e');
  play.settle();
  assert.deepEqual(play.list(history), ['(abc)', 'd', 'e']);
  play.inject(rewind, 1);
  play.inject(say, 'f');
  play.settle();
  assert.deepEqual(play.list(history), ['(abc)', 'f']);
});

test('only the change is journaled, however long the list is', () => {
  const play = spoken('x'.repeat(1000));
  play.inject(say, 'y');
  const [injected, fired] = play.settle();
  assert.ok(JSON.stringify([injected, fired]).length < 250);
  play.inject(compact, 999);
  assert.deepEqual(play.settle().at(-1), {
    seq: play.marking.seq,
    at: 0,
    kind: 'fired',
    t: 'shorten',
    take: [['compact', `${play.marking.seq - 1}.0`]],
    lists: [{ place: 'history', keepLast: 2, prefix: [`(${'x'.repeat(999)})`] }],
  });
});

test('a cut beyond the length of the list is a fault', () => {
  const play = spoken('ab');
  for (const length of [3, -1, 0.5]) play.inject(rewind, length);
  play.settle();
  assert.equal(play.values('net.fault').length, 3);
  assert.deepEqual(play.list(history), ['a', 'b']);
});

test('in one firing a cut refers to the list that was read, and appends apply after it', () => {
  const both = pure('both', {
    take: { rewind },
    give: allOf({ said: append(history), kept: truncate(history) }),
    run: ({ rewind: length }) => ({ said: ['!'], kept: { length } }),
  });
  const play = new ExecutorHarness(net('both', { transitions: [speak, both] }));
  for (const word of 'abc') play.inject(say, word);
  play.inject(rewind, 1);
  play.settle();
  assert.deepEqual(play.list(history), ['a', '!']);
  assertSameMarking(play.marking, play.records);
});

test('every attempt of an effect reads the list from its start, despite later changes', () => {
  for (const meanwhile of [
    (play: ExecutorHarness) => play.inject(say, 'z'),
    (play: ExecutorHarness) => play.inject(compact, 2),
    (play: ExecutorHarness) => play.inject(rewind, 0),
    (play: ExecutorHarness) => {
      play.inject(rewind, 0);
      for (const word of 'xyzu') play.inject(say, word);
    },
  ]) {
    const play = spoken('abc');
    play.inject(ask);
    play.settle(0);
    meanwhile(play);
    play.settle(0);
    assertSameMarking(play.marking, play.records);
    play.fail(play.attempt('think'));
    play.settle(0);
    for (const again of [play, play.replayed(), play.restored()]) {
      again.settle(1000);
      assert.deepEqual(again.attempt('think').tokens, { ask: null, history: ['a', 'b', 'c'] });
    }
  }
});

test('an effect can cut the list that it read, even when the list has grown since', () => {
  const play = spoken('abc');
  play.inject(ask);
  play.settle(0);
  play.inject(say, 'd');
  play.settle(0);
  play.finish(play.attempt('think'), { shorter: { length: 3, item: 'S' } });
  play.settle(0);
  assert.deepEqual(play.list(history), ['S', 'd']);
});

test('an effect cannot cut a list that another firing cut meanwhile, because it would cut items it did not read', () => {
  const play = spoken('abc');
  play.inject(ask);
  play.settle(0);
  play.inject(rewind, 0);
  for (const word of 'xyzu') play.inject(say, word);
  play.settle(0);
  play.finish(play.attempt('think'), { shorter: { length: 3, item: 'S' } });
  play.settle(0);
  assert.deepEqual(play.list(history), ['x', 'y', 'z', 'u']);
  assert.match(String(play.values(told)[0]), /which another firing cut after it was read/);
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
      const play = new ExecutorHarness(talk);
      for (const each of steps) {
        const { length } = play.list(history);
        if (each.do === 'say') play.inject(say, each.word);
        else if (each.do === 'ask') play.inject(ask);
        else play.inject(each.do === 'compact' ? compact : rewind, Math.floor(each.part * length));
        play.settle(0);
        assertSameMarking(play.marking, play.records);
      }
    }),
    { numRuns: 150 },
  );
});

test('a list can be restored from a snapshot after compaction and a rewind', () => {
  const play = spoken('abc');
  play.inject(compact, 1);
  play.inject(rewind, 1);
  play.settle();
  assert.deepEqual(play.list(history), ['(a)']);
  assertSameMarking(play.marking, play.records);
});

test('a snapshot whose list records are missing is rejected, and the error names the list', () => {
  const play = spoken('abc');
  const missing = /The journal has only 0 of the 3 items of the list "history"/;
  assert.throws(() => restore(play.marking, []), missing);
});
