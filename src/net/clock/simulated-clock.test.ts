import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from './simulated-clock.ts';

test('a simulated clock runs due callbacks at their due times, in order', () => {
  const clock = new SimulatedClock(100);
  const rang: string[] = [];
  const ring = (name: string) => () => rang.push(`${name} at ${clock.now()}`);
  clock.at(150, ring('b'));
  clock.at(120, ring('a'));
  clock.at(300, ring('c'));
  const cancel = clock.at(130, ring('never'));
  cancel();
  assert.equal(clock.nextAt, 120);
  clock.advance(100);
  assert.deepEqual(rang, ['a at 120', 'b at 150']);
  assert.equal(clock.now(), 200);
  assert.equal(clock.nextAt, 300);
});

test('a callback can schedule another one in the same advance, and one that is already due runs at once', () => {
  const clock = new SimulatedClock();
  const rang: number[] = [];
  clock.at(10, () => clock.at(5, () => rang.push(clock.now())));
  clock.at(20, () => clock.at(25, () => rang.push(clock.now())));
  clock.advance(30);
  assert.deepEqual(rang, [10, 25]);
  assert.equal(clock.nextAt, undefined);
});
