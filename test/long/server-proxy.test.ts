import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendThroughFaults } from '../server/send-through-faults.ts';

for (const sender of ['the stock client', 'the stock client with a key', 'our client'] as const)
  test(`500 messages that ${sender} sends through an unreliable proxy are stored once each`, async (t) => {
    const report = await sendThroughFaults({ sender, sessions: 20, sends: 25, seed: 1 });
    t.diagnostic(JSON.stringify(report));
    assert.ok((report['drop'] ?? 0) > 20 && (report['refuse'] ?? 0) > 20);
  });
