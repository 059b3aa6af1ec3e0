/**
 * Runs every gate, one line each, and stops at the first that fails.
 * The tests come last, so that their summary closes the output.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import packageJson from '../package.json' with { type: 'json' };

interface Gate {
  /** The script of package.json that judges. */
  readonly script: keyof typeof packageJson.scripts;
  readonly holds: string;
  /** It judges the package as others see it, so every public entry must be there. */
  readonly needsEntries?: true;
}

const gates: readonly Gate[] = [
  { script: 'format:check', holds: 'one layout' },
  { script: 'lint', holds: 'no any, no !, no lost promise, no cycle' },
  { script: 'types', holds: 'strict TypeScript' },
  { script: 'build', holds: 'JavaScript and declarations' },
  { script: 'api:check', holds: 'the accepted public API', needsEntries: true },
  { script: 'knip', holds: 'nothing unused', needsEntries: true },
  { script: 'publint', holds: 'the package as published', needsEntries: true },
  { script: 'attw', holds: 'types for every importer', needsEntries: true },
];

const missingEntries = [
  ...Object.values(packageJson.exports).map((to) => (typeof to === 'string' ? to : to.default)),
  packageJson.bin.petrichor,
]
  .map((file) => file.replace(/^(?:\.\/)?dist\/(.*)\.js$/, 'src/$1.ts'))
  .filter((file) => !existsSync(file));

/** Those that a package.json of their own runs, or that take minutes, are left out. */
const tests = globSync('{src,test}/**/*.test.ts', {
  exclude: ['test/long/**', 'test/migration/**', 'test/node-22/**', 'test/protocols/**'],
}).toSorted();

const startedAt = performance.now();
for (const gate of gates) {
  if (gate.needsEntries && missingEntries.length > 0) {
    report('·', gate, `waits for ${missingEntries.join(', ')}`);
    continue;
  }
  const command = packageJson.scripts[gate.script];
  const gateStartedAt = performance.now();
  const { code, output } = await run(command, 'pipe');
  report(code === 0 ? '✔' : '✖', gate, seconds(gateStartedAt));
  if (code !== 0) {
    console.log(`\n${output.trim()}\n\nThis was: ${command}`);
    process.exit(1);
  }
}
console.log(`${gates.length} gates in ${seconds(startedAt)}; now ${tests.length} test files\n`);

// As many files at once as there are cores: Node's own choice leaves one core of two idle.
const options = `--test-reporter=./scripts/test-reporter.ts --test-timeout=120000 --test-concurrency=${availableParallelism()}`;
// What is compiled once serves every test file and every process they start.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/node');
const tested = await run(`node --test ${options} ${tests.join(' ')}`, 'inherit');
process.exit(tested.code);

function report(mark: string, { script, holds }: Gate, outcome: string): void {
  console.log(`${mark} ${script.padEnd(13)} ${holds.padEnd(40)} ${outcome}`);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** Runs a command of the project; its output is returned (`pipe`) or shown as it comes (`inherit`). */
async function run(
  command: string,
  stdio: 'pipe' | 'inherit',
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(command, { shell: true, stdio: ['ignore', stdio, stdio] });
  const output: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.on('error', reject);
  child.on('close', (code) => resolve(code ?? 1));
  return { code: await promise, output: output.join('') };
}
