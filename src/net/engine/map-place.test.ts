import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { assertSameMarking, ExecutorHarness } from '../../../test/nets/executor-harness.ts';
import { allOf, oneOf, put } from '../language/arcs.ts';
import type { MapWrites } from '../language/arcs.ts';
import { mapIn } from '../journal/marking.ts';
import { net } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { mapPlace, outlet, place } from '../language/place.ts';
import { effect, pure } from '../language/transition.ts';

const state = mapPlace('state');
const write = place(
  'write',
  z.custom<MapWrites>(() => true),
  { environment: true },
);
const ask = place('ask', { environment: true });
const told = place('told', z.unknown());

const persist = pure('persist', {
  take: { write },
  give: allOf({ state: put(state) }),
  run: ({ write }) => ({ state: write }),
});
const look = effect('look', {
  take: { ask },
  read: { state },
  retry: { attempts: 2, backoff: '1s..1s' },
  give: oneOf({ told }),
  failed: () => ({ told: null }),
  run: async () => ({ told: null }),
});
const keep: Net = net('keep', { transitions: [persist, look] });

function written(...writes: readonly MapWrites[]): ExecutorHarness {
  const harness = new ExecutorHarness(keep);
  for (const each of writes) harness.inject(write, each);
  harness.settle(0);
  return harness;
}

const entries = (harness: ExecutorHarness): unknown => mapIn(harness.marking, 'state');

test('a map place exists before it has entries, and is written key by key', () => {
  assert.deepEqual(entries(written()), {});
  const harness = written(
    { set: { a: 1, b: { deep: [1] } } },
    { set: { a: 2 }, delete: ['b', 'never'] },
    { increment: { a: 3, n: -1 }, append: { list: ['x'] } },
    { append: { list: ['y', { z: 1 }], a: ['over a number'] } },
  );
  assert.deepEqual(entries(harness), { a: ['over a number'], n: -1, list: ['x', 'y', { z: 1 }] });
  assertSameMarking(harness.marking, harness.records);
});

test('only the writes are journaled', () => {
  const harness = written({
    set: Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n])),
  });
  harness.inject(write, { set: { k1: 'new' }, delete: [], increment: {} });
  const fired = harness.settle().at(-1);
  assert.ok(fired?.kind === 'fired');
  assert.deepEqual(fired.maps, [{ place: 'state', set: { k1: 'new' } }]);
});

test('replace removes every other key except keys shared with other sessions', () => {
  const harness = written(
    { set: { a: 1, b: 2, 'user:c': 3, 'app:d': 4 } },
    { set: { b: 5 }, replace: true },
  );
  assert.deepEqual(entries(harness), { b: 5, 'user:c': 3, 'app:d': 4 });
});

test('writes to shared keys increase their versions, and loading replaces only shared keys', () => {
  const harness = written(
    { set: { 'user:a': 1, own: 1 }, increment: { 'app:n': 1 } },
    { delete: ['user:a'] },
  );
  assert.deepEqual(harness.marking.shared, { 'user:a': 2, 'app:n': 1 });
  const loaded = { 'user:b': [1] };
  harness.executor.appendSystemRecord(
    { kind: 'loaded', place: 'state', entries: loaded, versions: { 'user:b': 7 } },
    0,
  );
  harness.settle();
  assert.deepEqual(entries(harness), { own: 1, 'user:b': [1] });
  assert.deepEqual(harness.marking.shared, { 'user:b': 7 });
  assertSameMarking(harness.marking, harness.records);
});

test('an invalid write is a fault and writes nothing', () => {
  const bad: readonly unknown[] = [
    'text',
    { set: 5 },
    { delete: 'a' },
    { delete: [5] },
    { increment: { a: 'x' } },
    { increment: { a: Number.NaN } },
    { append: { a: 'x' } },
    { set: { a: () => 1 } },
  ];
  const harness = new ExecutorHarness(
    net('bad', { transitions: [{ ...persist, run: ({ write }) => ({ state: bad[write.n] }) }] }),
  );
  bad.forEach((_, n) => harness.inject(write, { n }));
  harness.settle();
  assert.equal(harness.values('net.fault').length, bad.length);
  assert.deepEqual(entries(harness), {});
});

test('every attempt of an effect reads the map from its start', () => {
  const harness = written({ set: { a: { n: 1 } } });
  harness.inject(ask);
  harness.settle();
  harness.inject(write, { set: { a: 2 }, delete: ['b'] });
  harness.settle();
  harness.fail(harness.attempt('look'));
  harness.settle();
  for (const again of [harness, harness.replayed(), harness.restored()]) {
    again.settle(1000);
    assert.deepEqual(again.attempt('look').tokens, { ask: null, state: { a: { n: 1 } } });
  }
});

test('tokens of an outlet leave with their record, validated and in order, and are not kept', () => {
  const out = outlet('out', z.object({ n: z.number() }));
  const count = place('count', z.number(), { environment: true });
  const emit = pure('emit', {
    take: { count },
    give: allOf({ first: out, second: out }),
    run: ({ count }) => ({ first: { n: count }, second: { n: -count } }),
  });
  const harness = new ExecutorHarness(net('out', { transitions: [emit] }));
  harness.inject(count, 1);
  harness.inject(count, 2);
  harness.settle();
  assert.deepEqual(
    harness.outlets.map(({ place: from, value, record }) => [
      from,
      (value as { n: number }).n,
      record,
    ]),
    [
      ['out', 1, 4],
      ['out', -1, 4],
      ['out', 2, 5],
      ['out', -2, 5],
    ],
  );
  assert.deepEqual(harness.values(out), []);
});
