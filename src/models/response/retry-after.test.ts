import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfter } from './retry-after.ts';

function wait(headers: Readonly<Record<string, string>>, body?: unknown): number | undefined {
  return parseRetryAfter({ headers, body });
}

test("Retry-After is read in seconds, in milliseconds, and as a date relative to the provider's clock", () => {
  assert.equal(wait({ 'retry-after': '7' }), 7000);
  assert.equal(wait({ 'retry-after': '0.25' }), 250);
  assert.equal(wait({ 'retry-after-ms': '1500', 'retry-after': '9' }), 1500);
  const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
  assert.equal(wait({ 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT', date }), 30_000);
  assert.equal(wait({ 'retry-after': 'Wed, 21 Oct 2015 07:27:00 GMT', date }), 0);
});

test('the RetryInfo of Gemini is found at any position in the details', () => {
  const details = [{ '@type': 'Help' }, { '@type': 'RetryInfo', retryDelay: '12.5s' }];
  assert.equal(wait({}, { error: { details } }), 12_500);
  assert.equal(wait({}, { details }), 12_500);
});

test('a missing or invalid wait is undefined', () => {
  assert.equal(wait({}), undefined);
  assert.equal(wait({ 'retry-after': 'soon' }), undefined);
  assert.equal(wait({ 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT' }), undefined);
  assert.equal(wait({}, { error: { details: [{ retryDelay: 'soon' }] } }), undefined);
});
