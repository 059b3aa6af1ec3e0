import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { processesWith } from '../../../test/tools/host-processes.ts';
import { withoutSandbox } from './without-sandbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'petrichor-host-'));
const marker = `27182${Math.trunc(Math.random() * 1e9)}`;
const sandbox = withoutSandbox();
after(() => rmSync(folder, { recursive: true }));

/** Another process ends the group, so this can take a moment. */
const untilGone = async (): Promise<void> => {
  while (processesWith(marker).length > 0) await delay(10);
};

test('without a sandbox a command runs in its folder, with the given variables only', async () => {
  process.env['PETRICHOR_TEST_SECRET'] = 'ESCAPED';
  const { stdout, exitCode } = await sandbox.run({
    argv: ['bash', '-c', 'touch here; echo "$NAME"; env; exit 4'],
    folder,
    env: { NAME: 'rain' },
  });
  delete process.env['PETRICHOR_TEST_SECRET'];
  assert.match(stdout, /^rain\n/);
  assert.doesNotMatch(stdout, /ESCAPED/);
  assert.equal(exitCode, 4);
  assert.ok(existsSync(join(folder, 'here')));
  assert.equal(sandbox.isolated, false);
});

test('without a sandbox the whole process group ends with its command, at its time limit and at an abort', async () => {
  const background = `sleep ${marker}.1 & sleep ${marker}.2 &`;
  assert.equal((await sandbox.run({ argv: ['bash', '-c', background], folder })).exitCode, 0);
  await untilGone();
  const argv = ['bash', '-c', `${background} sleep ${marker}.3`] as const;
  const late = await sandbox.run({ argv, folder, limits: { timeMs: 100 } });
  assert.deepEqual([late.endedBy, late.exitCode], ['time limit', null]);
  await untilGone();
  const abort = new AbortController();
  const aborted = sandbox.run({ argv, folder, signal: abort.signal });
  while (processesWith(`sleep ${marker}.3`).length === 0) await delay(5);
  abort.abort(new Error('interrupted'));
  await assert.rejects(aborted, /interrupted/);
  await untilGone();
});

test('a missing program is an error', async () => {
  await assert.rejects(sandbox.run({ argv: ['/no/such/program'], folder }), {
    code: 'sandbox_unavailable',
    message: /ENOENT/,
  });
});
