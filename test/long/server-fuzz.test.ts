import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFuzzFixture } from '../server/fuzz-fixture.ts';
import { fuzzServer } from '../server/fuzz-server.ts';

const DURATION_MS = 5 * 60_000;

test(
  'five minutes of invalid requests cause no server error',
  { timeout: 2 * DURATION_MS },
  async (t) => {
    await using on = await openFuzzFixture();
    const seed = Math.floor(Math.random() * 1e9);
    const report = await fuzzServer({ ...on, seed, forMs: DURATION_MS });
    t.diagnostic(`seed ${seed}: ${JSON.stringify(report)}`);
    assert.ok((report['operations'] ?? 0) >= 30);
  },
);
