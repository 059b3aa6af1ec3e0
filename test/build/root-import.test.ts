import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureImportTime } from '../../bench/import-time.ts';

test('the root entry reads at most 10 files, and not the code that runs agents', async () => {
  const { files } = await measureImportTime({ quick: true });
  assert.ok(files.length <= 10, files.join('\n'));
  assert.ok(files.some((file) => file.includes('/chunks/agents-')));
  assert.ok(!files.some((file) => file.includes('/chunks/runtime-')));
});
