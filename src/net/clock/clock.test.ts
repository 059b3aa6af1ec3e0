import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { clockAhead, createSystemClock } from './clock.ts';
import { SimulatedClock } from './simulated-clock.ts';

/** A time of day and a monotonic time, each changed by the test. */
function createTimes(wall: number): { wall: number; passed: number } {
  return { wall, passed: 0 };
}

test('the clock follows the time of day, and continues when the time of day is set back', () => {
  const time = createTimes(1_000_000);
  const clock = createSystemClock({ wall: () => time.wall, monotonic: () => time.passed });
  assert.equal(clock.now(), 1_000_000);
  time.wall += 5_000;
  time.passed += 5_000;
  assert.equal(clock.now(), 1_005_000);
  // An hour back, while a second passes.
  time.wall += 1_000 - 3_600_000;
  time.passed += 1_000;
  assert.equal(clock.now(), 1_006_000);
  // An hour and more forward.
  time.wall += 7_200_000;
  assert.equal(clock.now(), time.wall);
});

test('a wait keeps its length when the time of day is set back during it', () => {
  const time = createTimes(1_000_000);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const clock = createSystemClock({ wall: () => time.wall, monotonic: () => time.passed });
    const called: number[] = [];
    clock.at(clock.now() + 200_000, () => called.push(clock.now()));
    time.wall -= 3_600_000;
    for (let n = 0; n < 20; n++) {
      time.wall += 10_000;
      time.passed += 10_000;
      mock.timers.tick(10_000);
    }
    assert.deepEqual(called, [1_200_000]);
  } finally {
    mock.timers.reset();
  }
});

test('a wait ends within a minute when the time of day jumps past its end', () => {
  const time = createTimes(1_000_000);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const clock = createSystemClock({ wall: () => time.wall, monotonic: () => time.passed });
    let calls = 0;
    clock.at(clock.now() + 3_600_000, () => calls++);
    time.wall += 7_200_000;
    mock.timers.tick(60_000);
    mock.timers.tick(1);
    assert.equal(calls, 1);
  } finally {
    mock.timers.reset();
  }
});

test('a clock ahead of another shows a later time at the same moment', () => {
  const simulated = new SimulatedClock(100);
  const clock = clockAhead(simulated, () => 50);
  const called: number[] = [];
  clock.at(170, () => called.push(clock.now()));
  simulated.advance(19);
  assert.deepEqual(called, []);
  simulated.advance(1);
  assert.deepEqual(called, [170]);
});
