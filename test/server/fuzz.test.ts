import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFuzzFixture } from './fuzz-fixture.ts';
import { fuzzServer } from './fuzz-server.ts';

test('an invalid request gets a response below 500 that names the invalid field', async (t) => {
  await using on = await openFuzzFixture();
  const report = await fuzzServer({ ...on, seed: 1, requests: 500 });
  t.diagnostic(JSON.stringify(report));
  assert.ok((report['operations'] ?? 0) >= 30);
  for (const kind of [
    'malformed',
    'deep',
    'type',
    'long',
    'large',
    'query',
    'id',
    'header',
    'random',
  ])
    assert.ok((report[kind] ?? 0) > 0, kind);
});
