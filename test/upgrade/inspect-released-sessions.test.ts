/** This version shows what sessions of version 0.1.0 did, as they were stored: nothing runs before it is asked. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { encodeMarking, replayRecords } from '../../src/net/journal/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { InspectedRecord } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import { model, countedTools } from './cases/released-case.ts';
import { RELEASED_AT, releasedAgent, reminderAgent } from './released-agents.ts';

test('plain sessions of 0.1.0 are inspected: records, markings, model requests and fork points', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-inspect-'));
  const file = join(folder, 'plain.db');
  copyFileSync(join(import.meta.dirname, 'fixtures', 'plain.db'), file);
  const store = await openStore(`sqlite:${file}`);
  try {
    const { tools } = countedTools();
    await using runtime = await openRuntime({
      agents: [releasedAgent(model, tools), reminderAgent(model)],
      store,
      clock: new SimulatedClock(RELEASED_AT + 1_000),
    });
    const rows = await runtime.sessions();
    assert.ok(rows.length > 5);
    let requests = 0;
    for (const { key } of rows) {
      const session = await runtime.find(key.sessionId, { user: key.userId });
      assert.ok(session !== undefined);
      const records: InspectedRecord[] = [];
      for await (const record of session.records()) records.push(record);
      const stored = records.map((one) => one.stored ?? assert.fail());
      for (const at of [1, Math.ceil(records.length / 2), records.length]) {
        const { encoded, netHash } = await session.markingAt(at);
        assert.deepEqual(encoded, encodeMarking(replayRecords(stored.slice(0, at))));
        assert.notEqual(netHash, '');
      }
      for (const { record, kind, transition } of records) {
        if (kind !== 'started' || transition !== 'model.call') continue;
        const { request } = await session.modelRequest(record);
        assert.equal(request.instruction, 'Obey.');
        assert.ok(request.contents.length > 0);
        requests++;
      }
      const points: number[] = [];
      for await (const { upTo } of session.forkPoints()) points.push(upTo);
      const upTo = points[Math.floor(points.length / 2)] ?? 0;
      const fork = await session.fork({ id: `${session.id}-fork`, upTo });
      assert.equal((await fork.markingAt(1)).record, 1);
    }
    assert.ok(requests > 40, String(requests));
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
