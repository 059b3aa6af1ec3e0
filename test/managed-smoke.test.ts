import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');

test('the smoke test of managed sessions runs as a separate package', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-smoke-'));
  try {
    cpSync(join(root, 'examples', 'managed-smoke'), folder, { recursive: true });
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules', 'petrichor'));
    const { stdout } = await promisify(execFile)(process.execPath, ['main.ts'], {
      cwd: folder,
      timeout: 600_000,
    });
    assert.equal(stdout, 'F-1 holds\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
