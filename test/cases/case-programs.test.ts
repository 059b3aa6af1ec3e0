import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');

// Each program asserts its output.
for (const path of globSync('examples/{cases,patterns}/*.ts', { cwd: root }).toSorted()) {
  it(`${path} runs`, async () => {
    await promisify(execFile)(process.execPath, [join(root, path)], { timeout: 600_000 });
  });
}
