import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendThroughFaults } from './send-through-faults.ts';

for (const sender of ['the stock client', 'the stock client with a key', 'our client'] as const)
  test(`each event that ${sender} sends through an unreliable proxy is stored once`, async (t) => {
    const report = await sendThroughFaults({ sender, sessions: 8, sends: 4, seed: 7 });
    t.diagnostic(JSON.stringify(report));
    assert.ok((report['drop'] ?? 0) > 0 && (report['refuse'] ?? 0) > 0);
  });
