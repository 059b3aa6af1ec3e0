/**
 * Runs programs one after the other in this process, each in an empty folder, and sends the parent the name of each that
 * ended. A process for each program would load the package as often.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-example-'));
  process.chdir(folder);
  try {
    await import(pathToFileURL(file).href);
  } finally {
    process.chdir(tmpdir());
    await rm(folder, { recursive: true });
  }
  process.send?.(file);
}
process.disconnect?.();
