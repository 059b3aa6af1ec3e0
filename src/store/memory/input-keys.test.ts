import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as check, boolean, nat, property, record } from 'fast-check';
import { InputKeys } from './input-keys.ts';

test('a dedupe key has the number of its input, however many there are and whenever they are packed', () => {
  const name = nat(30).map((n) => `message:${n}`);
  check(
    property(array(record({ name, pack: boolean() }), { maxLength: 60 }), (steps) => {
      const keys = new InputKeys();
      const expected = new Map<string, number>();
      for (const step of steps) {
        assert.equal(keys.find(step.name), expected.get(step.name));
        if (!expected.has(step.name)) {
          expected.set(step.name, expected.size + 1);
          assert.equal(keys.add(step.name), expected.size);
        }
        if (step.pack) keys.pack();
        assert.equal(keys.last, expected.size);
      }
      assert.deepEqual(keys.all, [...expected.keys()]);
    }),
  );
});
