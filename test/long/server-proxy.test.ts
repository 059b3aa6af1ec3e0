import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendThroughFaults } from '../server/send-through-faults.ts';

for (const sender of ['the stock client', 'the stock client with a key', 'our client'] as const)
  test(`500 messages of ${sender} through a transport that fails: none is lost, none is there twice`, async (t) => {
    const done = await sendThroughFaults({ sender, sessions: 20, sends: 25, seed: 1 });
    t.diagnostic(JSON.stringify(done));
    assert.ok((done['drop'] ?? 0) > 20 && (done['refuse'] ?? 0) > 20);
  });
