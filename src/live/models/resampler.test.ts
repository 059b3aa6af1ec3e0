import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Resampler } from './resampler.ts';

const SECONDS = 1;

function tone(rate: number, hertz: number): Int16Array {
  const wave = (index: number): number =>
    Math.round(8_000 * Math.sin((2 * Math.PI * hertz * index) / rate));
  return Int16Array.from({ length: rate * SECONDS }, (_, index) => wave(index));
}

function toSamples(pcm: Uint8Array): Int16Array {
  return new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength / 2);
}

function convert(samples: Int16Array, from: number, to: number): Int16Array {
  return toSamples(new Resampler(from, to).convert(new Uint8Array(samples.buffer)));
}

for (const [from, to] of [
  [16_000, 24_000],
  [24_000, 16_000],
  [48_000, 16_000],
] as const)
  test(`a tone keeps its pitch, loudness and duration from ${from} to ${to} samples per second`, () => {
    const converted = convert(tone(from, 440), from, to);
    assert.ok(Math.abs(converted.length - to * SECONDS) <= 3, `${converted.length}`);
    const rising = converted.filter((sample, at) => sample >= 0 && (converted[at - 1] ?? 0) < 0);
    assert.ok(Math.abs(rising.length - 440) <= 1, `${rising.length}`);
    const loudest = Math.max(...converted.map(Math.abs));
    assert.ok(loudest > 7_800 && loudest <= 8_000, `${loudest}`);
  });

test('a stream in chunks of odd sizes gives the same samples as one chunk', () => {
  const bytes = new Uint8Array(tone(16_000, 300).buffer);
  const whole = convert(tone(16_000, 300), 16_000, 24_000);
  const resampler = new Resampler(16_000, 24_000);
  const parts: number[] = [];
  for (let at = 0, size = 2; at < bytes.length; at += size, size = 2 * ((size * 7) % 331) + 2)
    parts.push(...toSamples(resampler.convert(bytes.slice(at, at + size))));
  assert.deepEqual(parts, [...whole]);
});

test('what is too high for the lower rate is not audible at another pitch', () => {
  const converted = convert(tone(48_000, 16_000), 48_000, 16_000);
  assert.ok(Math.max(...converted.map(Math.abs)) < 100);
});
