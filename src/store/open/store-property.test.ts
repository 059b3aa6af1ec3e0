import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  readEverything,
  operation,
  captureOutcome,
  OWNERS,
  runOperation,
  createUidSequence,
} from '../contract/store-operations.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { openSqliteStore } from '../sqlite/open-sqlite-store.ts';

test('the memory store and the SQLite store behave the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
      const file = join(folder, `${runs++}.db`);
      const memory = new MemoryStore({ newUid: createUidSequence() });
      const sqlite = await openSqliteStore(file, { newUid: createUidSequence() });
      await Promise.all(OWNERS.flatMap((id) => [memory.join(id), sqlite.join(id)]));
      for (const [index, one] of operations.entries()) {
        const expected = await captureOutcome(() => runOperation(memory, one, index));
        const actual = await captureOutcome(() => runOperation(sqlite, one, index));
        assert.deepEqual(actual, expected, JSON.stringify(one));
        assert.deepEqual(
          await readEverything(sqlite),
          await readEverything(memory),
          JSON.stringify(one),
        );
      }
      await Promise.all([memory.close(), sqlite.close()]);
      rmSync(file);
    }),
    { numRuns: 60 },
  );
  rmSync(folder, { recursive: true });
});
