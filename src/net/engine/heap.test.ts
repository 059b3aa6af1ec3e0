import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Heap } from './heap.ts';

const numbers = fc.array(fc.integer({ min: 0, max: 50 }));

function drained(heap: Heap<number>): readonly number[] {
  const taken: number[] = [];
  for (let top = heap.pop(); top !== undefined; top = heap.pop()) taken.push(top);
  return taken;
}

test('a heap returns the least element first, with any sequence of push and pop', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(50), { freq: 3 })), (steps) => {
      const heap = new Heap<number>((a, b) => a < b);
      const model: number[] = [];
      for (const step of steps) {
        if (step === null) {
          model.sort((a, b) => a - b);
          assert.equal(heap.peek(), model[0]);
          assert.equal(heap.pop(), model.shift());
        } else {
          heap.push(step);
          model.push(step);
        }
        assert.equal(heap.size, model.length);
      }
      assert.deepEqual(
        drained(heap),
        model.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('a heap from which elements were removed keeps the order of the rest', () => {
  fc.assert(
    fc.property(numbers, (items) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const item of items) heap.push(item);
      heap.keep((item) => item % 3 > 0);
      assert.deepEqual(
        drained(heap),
        items.filter((item) => item % 3 > 0).toSorted((a, b) => a - b),
      );
      heap.push(1);
      heap.clear();
      assert.equal(heap.peek(), undefined);
    }),
  );
});
