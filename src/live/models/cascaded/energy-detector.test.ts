import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EnergyDetector, energyLevel } from './energy-detector.ts';

test('speech is found by its energy, above the noise of the room', () => {
  const frame = (loudness: number): Int16Array =>
    Int16Array.from({ length: 320 }, (_, index) => (index % 2 === 0 ? loudness : -loudness));
  const detector = new EnergyDetector(16_000);
  const read = (loudness: number, frames: number): readonly (string | undefined)[] =>
    Array.from({ length: frames }, () => detector.read(frame(loudness))).filter(Boolean);
  assert.deepEqual(read(30, 100), []);
  assert.deepEqual(read(4_000, 2), [], 'a click is no speech');
  assert.deepEqual(read(30, 10), []);
  assert.deepEqual(read(4_000, 3), ['started']);
  assert.deepEqual(read(4_000, 500), []);
  assert.deepEqual(read(30, 20), [], 'a pause between words');
  assert.deepEqual(read(4_000, 10), []);
  assert.deepEqual(read(30, 30), ['stopped']);
  // A fan: it is speech until the estimate of the noise has followed.
  read(600, 2_000);
  assert.deepEqual(read(600, 500), []);
  assert.deepEqual(read(6_000, 3), ['started']);
  assert.equal(detector.stop(), true);
  assert.equal(detector.stop(), false);
  assert.equal(Math.round(energyLevel(frame(16_384)) * 100), 50);
});
