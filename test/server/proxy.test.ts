import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendThroughFaults } from './send-through-faults.ts';

for (const sender of ['the stock client', 'the stock client with a key', 'our client'] as const)
  test(`what ${sender} sends through a transport that fails is there once`, async (t) => {
    const done = await sendThroughFaults({ sender, sessions: 8, sends: 4, seed: 7 });
    t.diagnostic(JSON.stringify(done));
    assert.ok((done['drop'] ?? 0) > 0 && (done['refuse'] ?? 0) > 0);
  });
