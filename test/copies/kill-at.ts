import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const HOST = join(import.meta.dirname, 'copy-host.ts');

/** Runs a copy in a process of its own, and kills it at an item. */
export async function killAt(
  ...args: readonly [what: string, store: string, file: string, item: number]
): Promise<void> {
  const child = spawn(process.execPath, [HOST, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  assert.equal(child.exitCode, null, 'it stopped before it was killed');
  child.kill('SIGKILL');
  await exited;
}
