import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnerFailureDetector } from './owner-failure-detector.ts';
import type { OwnerRow } from './owner-failure-detector.ts';

const LONG = 10_000_000;

function setUp(): {
  readonly absences: OwnerFailureDetector;
  readonly after: (ms: number) => void;
  readonly dead: (...rows: readonly Partial<OwnerRow>[]) => readonly string[];
} {
  let now = 0;
  const absences = new OwnerFailureDetector({
    now: () => now,
    absenceMs: 5000,
    restartAbsenceMs: 30_000,
  });
  return {
    absences,
    after: (ms) => void (now += ms),
    dead: (...rows) =>
      absences
        .findDead(rows.map((row) => ({ name: 'a', lock: 1, held: false, uptimeMs: LONG, ...row })))
        .map(({ name }) => name),
  };
}

test('an owner is dead when its absence has lasted long enough', () => {
  const { after, dead } = setUp();
  assert.deepEqual(dead({}), []);
  after(4999);
  assert.deepEqual(dead({}), []);
  after(1);
  assert.deepEqual(dead({}), ['a']);
});

test('an absence starts again after the owner was seen', () => {
  const { after, dead } = setUp();
  dead({});
  after(4000);
  assert.deepEqual(dead({ held: true }), []);
  after(4000);
  assert.deepEqual(dead({}), []);
  after(4000);
  assert.deepEqual(dead({}), []);
  after(1000);
  assert.deepEqual(dead({}), ['a']);
});

test('an absence starts again when the owner was back between two observations', () => {
  const { after, dead } = setUp();
  dead({ lock: 1 });
  after(LONG);
  assert.deepEqual(dead({ lock: 2 }), []);
  after(5000);
  assert.deepEqual(dead({ lock: 2 }), ['a']);
});

test('after the server restarted, an owner must be absent longer to be dead', () => {
  const { after, dead } = setUp();
  assert.deepEqual(dead({ uptimeMs: 0 }), []);
  after(10_000);
  assert.deepEqual(dead({ uptimeMs: 10_000 }), []);
  after(20_000);
  assert.deepEqual(dead({ uptimeMs: 30_000 }), ['a']);
});

test('after this process reconnected, an owner must be absent longer to be dead, whatever the uptime of the server', () => {
  const { absences, after, dead } = setUp();
  after(LONG);
  absences.markReconnected();
  assert.deepEqual(dead({}), []);
  after(29_999);
  assert.deepEqual(dead({}), []);
  after(1);
  assert.deepEqual(dead({}), ['a']);
});

test('owners are judged separately, and an owner that has left is forgotten', () => {
  const { after, dead } = setUp();
  dead({ name: 'a' }, { name: 'b', held: true });
  after(3000);
  dead({ name: 'b' });
  after(3000);
  assert.deepEqual(dead({ name: 'a' }, { name: 'b' }), []);
  after(2000);
  assert.deepEqual(dead({ name: 'a' }, { name: 'b' }), ['b']);
});
