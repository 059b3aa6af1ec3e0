#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describeOldNode } from './node-version.ts';

// Checked before the other imports, which fail in an older Node.
const oldNode = describeOldNode(process.versions.node);
if (oldNode !== undefined) {
  process.stderr.write(`${oldNode}\n`);
  process.exit(1);
}

const [{ isJsonObject, packageFile }, { systemClock }] = await Promise.all([
  import('../core/internal.ts'),
  import('../net/index.ts'),
]);

// The reader of our output may close it early (`petrichor replay demo | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

// Node 22 warns that its SQLite is experimental. The user of this program cannot act on that.
const warn = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning) => {
  const isKnown = warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite');
  if (!isKnown) for (const listener of warn) listener(warning);
});

if (process.connected) endWithParent();

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
  signalProcess,
  version: version(),
});

// An agent module may hold a resource open that would keep the process alive. The output is flushed
// before the exit.
process.stdout.write('', () => process.exit(code));

/**
 * Ends this process when the server or the command that started it has ended, however that ended. Without it, nobody
 * reads the output, and nobody could end a proof.
 */
function endWithParent(): void {
  process.once('disconnect', () => process.exit(1));
  // In a thread of its own, because a search can keep the main thread busy for seconds.
  const watch = `
    const { workerData } = require('node:worker_threads');
    setInterval(() => {
      if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL');
    }, 1000);`;
  new Worker(watch, { eval: true, workerData: process.ppid, execArgv: [] }).unref();
}

function signalProcess(pid: number, signal: 'SIGTERM' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** The version of the package. */
function version(): string {
  const file = readFileSync(packageFile('package.json'), 'utf8');
  const manifest: unknown = JSON.parse(file);
  const value = isJsonObject(manifest) ? manifest['version'] : undefined;
  return typeof value === 'string' ? value : 'unknown';
}
