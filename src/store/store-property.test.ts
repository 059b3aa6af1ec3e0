import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  everything,
  operation,
  outcomeOf,
  OWNERS,
  runOperation,
  uids,
} from './contract/store-operations.ts';
import { MemoryStore } from './memory-store.ts';
import { openSqliteStore } from './sqlite-store.ts';

test('the stores in memory and in SQLite cannot be told apart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
      const file = join(folder, `${runs++}.db`);
      const memory = new MemoryStore({ newUid: uids() });
      const sqlite = await openSqliteStore(file, { newUid: uids() });
      await Promise.all(OWNERS.flatMap((id) => [memory.join(id), sqlite.join(id)]));
      for (const [index, one] of operations.entries()) {
        const expected = await outcomeOf(() => runOperation(memory, one, index));
        const actual = await outcomeOf(() => runOperation(sqlite, one, index));
        assert.deepEqual(actual, expected, JSON.stringify(one));
        assert.deepEqual(await everything(sqlite), await everything(memory), JSON.stringify(one));
      }
      await Promise.all([memory.close(), sqlite.close()]);
      rmSync(file);
    }),
    { numRuns: 60 },
  );
  rmSync(folder, { recursive: true });
});
