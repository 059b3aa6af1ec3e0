import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isEmptyWrites } from '../../core/internal.ts';
import {
  InvalidInputError,
  InvalidStateKeyError,
  NotSerializableError,
  type Json,
} from '../../core/index.ts';
import { StateBuffer, type BufferedWrites, type StateSnapshot } from './state-buffer.ts';

function createBuffer(state: { readonly [key: string]: Json }): StateBuffer {
  return new StateBuffer(new Map(Object.entries(state)));
}

const nothing: BufferedWrites = { set: {}, delete: [], increment: {}, append: {}, read: [] };

test('a tool sees the state at its start, and its own changes', () => {
  const state = createBuffer({ city: 'Rome', count: 2, list: [1] });
  state.set('city', 'Oslo');
  state.increment('count');
  state.append('list', 2);
  state.append('new list', 'a');
  state.increment('user:visits', 3);
  const keys = ['city', 'count', 'list', 'new list', 'user:visits', 'none'];
  assert.deepEqual(
    keys.map((key) => state.get(key)),
    ['Oslo', 3, [1, 2], ['a'], 3, undefined],
  );
  state.delete('city');
  assert.equal(state.get('city'), undefined);
});

test('each key is committed by one kind of write, the simplest one', () => {
  const state = createBuffer({ a: 1, list: [0] });
  state.increment('a', 2);
  state.increment('a', 3);
  state.append('list', 1);
  state.append('list', 2);
  state.set('b', 1);
  state.increment('b');
  state.delete('c');
  state.append('c', 'x');
  state.increment('d');
  state.delete('d');
  state.append('e', 1);
  state.set('e', null);
  assert.deepEqual(state.takeWrites(), {
    ...nothing,
    set: { b: 2, c: ['x'], e: null },
    delete: ['d'],
    increment: { a: 5 },
    append: { list: [1, 2] },
  });
});

test('adding to a number or a list does not count as a read', () => {
  const state = createBuffer({ n: 1, list: [] });
  state.increment('n');
  state.append('list', 1);
  assert.deepEqual(state.takeWrites().read, []);
  state.get('n');
  assert.deepEqual(state.takeWrites().read, ['n']);
});

test('an update reads and sets, so that no change of another writer is lost', () => {
  const state = createBuffer({ 'user:tags': ['a'] });
  state.update('user:tags', (tags) => [tags ?? null, 'b']);
  assert.deepEqual(state.takeWrites(), {
    ...nothing,
    set: { 'user:tags': [['a'], 'b'] },
    read: ['user:tags'],
  });
});

test('a key that the tool set itself does not count as read', () => {
  const state = createBuffer({ a: 1 });
  state.set('a', 2);
  state.get('a');
  assert.deepEqual(state.takeWrites().read, []);
});

test('a key has one name: session:city is city', () => {
  const state = createBuffer({ city: 'Rome' });
  assert.equal(state.get('session:city'), 'Rome');
  state.set('session:city', 'Oslo');
  assert.deepEqual(state.takeWrites(), { ...nothing, set: { city: 'Oslo' }, read: ['city'] });
});

test('an invalid key is rejected by every method, and nothing is written', () => {
  const state = createBuffer({});
  for (const use of [
    () => state.get(''),
    () => state.set('a/b', 1),
    () => state.delete('..'),
    () => state.update('a\nb', () => 1),
    () => state.increment('\0'),
    () => state.append('x'.repeat(257), 1),
  ]) {
    assert.throws(use, InvalidStateKeyError);
  }
  assert.deepEqual(state.takeWrites(), nothing);
});

test('a value that is not JSON is rejected with its key, and nothing is written', () => {
  const state = createBuffer({});
  const map = new Map() as unknown as Json;
  assert.throws(
    () => state.set('seen', map),
    /^NotSerializableError: state\["seen"\] is an instance of Map/,
  );
  assert.throws(() => state.append('seen', map), NotSerializableError);
  assert.throws(() => state.update('seen', () => map), NotSerializableError);
  assert.deepEqual(state.takeWrites().set, {});
});

test('adding a number to a text, or an item to a number, is rejected', () => {
  const state = createBuffer({ city: 'Rome', n: 1 });
  assert.throws(() => state.increment('city'), InvalidInputError);
  assert.throws(() => state.append('n', 1), InvalidInputError);
  assert.throws(() => state.increment('n', Number.NaN), InvalidInputError);
  state.append('list', 1);
  assert.throws(() => state.increment('list'), InvalidInputError);
  assert.deepEqual(state.takeWrites(), { ...nothing, append: { list: [1] } });
});

test('a missing value is the fallback, and a value of null is not missing', () => {
  const state = createBuffer({ none: null, zero: 0 });
  assert.deepEqual(
    ['none', 'zero', 'gone'].map((key) => state.get(key, 7)),
    [null, 0, 7],
  );
});

test('later changes of the tool to its own object change nothing', () => {
  const state = createBuffer({});
  const order = { items: ['a'] };
  state.set('order', order);
  order.items.push('b');
  assert.deepEqual(state.get('order'), { items: ['a'] });
  assert.ok(Object.isFrozen(state.get('order')));
});

test('writes are taken once, and later writes build on them', () => {
  const state = createBuffer({ n: 1 });
  state.set('n', 10);
  state.append('list', 1);
  state.takeWrites();
  state.increment('n');
  assert.deepEqual([state.get('n'), state.get('list')], [11, [1]]);
  const writes = state.takeWrites();
  assert.deepEqual([writes.set, writes.increment], [{}, { n: 1 }]);
  assert.equal(isEmptyWrites(state.takeWrites()), true);
});

test('a key that is only read is not written', () => {
  const state = createBuffer({});
  state.get('a');
  assert.equal(isEmptyWrites(state.takeWrites()), true);
  state.delete('a');
  assert.equal(isEmptyWrites(state.takeWrites()), false);
});

// The model: apply each method to a plain map. The buffer must show the same values, and its writes must produce them.
const key = fc.constantFrom('a', 'b', 'user:c');
const verb = fc.oneof(
  fc.record({
    verb: fc.constant('set'),
    key,
    value: fc.oneof(fc.integer(), fc.array(fc.integer())),
  }),
  fc.record({ verb: fc.constant('delete'), key, value: fc.constant(0) }),
  fc.record({ verb: fc.constant('increment'), key, value: fc.integer({ min: -9, max: 9 }) }),
  fc.record({ verb: fc.constant('append'), key, value: fc.integer() }),
);
type Step = {
  readonly verb: string;
  readonly key: string;
  readonly value: number | readonly number[];
};

test('the writes turn the state at the start into the state that the tool saw', () => {
  const start = fc.dictionary(
    key,
    fc.oneof(fc.integer({ min: -9, max: 9 }), fc.array(fc.integer())),
  );
  fc.assert(
    fc.property(start, fc.array(verb), (before, steps: readonly Step[]) => {
      const model = new Map<string, Json>(Object.entries(before));
      const state = createBuffer(before);
      for (const step of steps) {
        const done = applyToModel(model, step);
        if (done) applyToBuffer(state, step);
        else assert.throws(() => applyToBuffer(state, step), InvalidInputError);
      }
      const writes = state.takeWrites();
      assert.deepEqual(committed(before, writes), Object.fromEntries(model));
      for (const [name, value] of model) assert.deepEqual(state.get(name), value);
      assertOneKindEach(writes);
    }),
  );
});

function applyToModel(model: Map<string, Json>, { verb: kind, key: name, value }: Step): boolean {
  const before = model.get(name);
  if (kind === 'set') model.set(name, value);
  else if (kind === 'delete') model.delete(name);
  else if (kind === 'increment') {
    if (typeof before !== 'number' && before !== undefined) return false;
    model.set(name, (before ?? 0) + Number(value));
  } else {
    if (before !== undefined && !Array.isArray(before)) return false;
    model.set(name, [...(before ?? []), value]);
  }
  return true;
}

function applyToBuffer(state: StateBuffer, { verb: kind, key: name, value }: Step): void {
  if (kind === 'set') state.set(name, value);
  else if (kind === 'delete') state.delete(name);
  else if (kind === 'increment') state.increment(name, Number(value));
  else state.append(name, value);
}

function committed(before: { readonly [name: string]: Json }, writes: BufferedWrites): unknown {
  const after = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(writes.set)) after.set(name, value);
  for (const name of writes.delete) after.delete(name);
  for (const [name, by] of Object.entries(writes.increment)) {
    after.set(name, Number(after.get(name) ?? 0) + by);
  }
  for (const [name, items] of Object.entries(writes.append)) {
    const list = after.get(name) ?? [];
    assert.ok(Array.isArray(list));
    after.set(name, [...list, ...items]);
  }
  return Object.fromEntries(after);
}

function assertOneKindEach(writes: BufferedWrites): void {
  const keys = [writes.set, writes.increment, writes.append].flatMap(Object.keys);
  const all = [...keys, ...writes.delete];
  assert.equal(new Set(all).size, all.length);
}

test('a snapshot is any object with a get method, and is never written to', () => {
  const readKeys: string[] = [];
  const snapshot: StateSnapshot = {
    get: (name) => {
      readKeys.push(name);
      return 1;
    },
  };
  const state = new StateBuffer(snapshot);
  state.increment('user:n');
  assert.equal(state.get('user:n'), 2);
  assert.deepEqual(new Set(readKeys), new Set(['user:n']));
});
