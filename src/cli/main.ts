#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { isJsonObject } from '../core/index.ts';
import { systemClock } from '../net/index.ts';

// Whoever reads our output may have seen enough of it (`petrichor replay demo | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

// Node 22 says of its own SQLite that it is new, as soon as it is loaded. Who runs this program can do nothing about that.
const warn = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning) => {
  const isKnown = warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite');
  if (!isKnown) for (const listener of warn) listener(warning);
});

const { runCli } = await import('./cli.ts');
const code = await runCli({
  args: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  signals: process,
  version: version(),
});

// An agent's module may hold something open that would keep the process; what was written goes out first.
process.stdout.write('', () => process.exit(code));

/** The package's own, whether this file runs as source or as built: both stand two folders below it. */
function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const read: unknown = JSON.parse(file);
  const found = isJsonObject(read) ? read['version'] : undefined;
  return typeof found === 'string' ? found : 'unknown';
}
