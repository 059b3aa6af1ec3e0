/**
 * Runs every gate, one line each, and stops at the first that fails.
 * The tests come last, so that their summary closes the output.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import packageJson from '../package.json' with { type: 'json' };
import { readCpuSeconds } from './cpu-time.ts';
import { runTests } from './run-tests.ts';
import { listTestFiles } from './test-files.ts';

interface Gate {
  /** The script of package.json that judges. */
  readonly script: keyof typeof packageJson.scripts;
  readonly holds: string;
  /** It judges the package as others see it, so every public entry must be there. */
  readonly needsEntries?: true;
}

/** Gates that read the source. The build runs beside the second. */
const sourceGates: readonly Gate[] = [
  { script: 'format:check', holds: 'one layout' },
  { script: 'lint', holds: 'strict TypeScript, no lost promise, no cycle' },
];

const build: Gate = { script: 'build', holds: 'JavaScript and declarations' };

/** Gates that read what was built. */
const packageGates: readonly Gate[] = [
  { script: 'knip', holds: 'nothing unused', needsEntries: true },
  { script: 'api:check', holds: 'the accepted public API', needsEntries: true },
];

const missingEntries = [
  ...Object.values(packageJson.exports).map((to) => (typeof to === 'string' ? to : to.default)),
  packageJson.bin.petrichor,
]
  .map((file) => file.replace(/^(?:\.\/)?dist\/(.*)\.js$/, 'src/$1.ts'))
  .filter((file) => !existsSync(file));

const startedAt = performance.now();
await Promise.all([judgeEach(sourceGates), judgeEach([build, ...packageGates])]);
const tests = listTestFiles();
const gateCount = sourceGates.length + 1 + packageGates.length;
console.log(`${gateCount} gates in ${seconds(startedAt)}; now ${tests.length} test files\n`);
const code = await runTests(tests);
console.log(
  `${seconds(startedAt)} of wall time, ${readCpuSeconds().toFixed(0)} s of CPU time in all processes`,
);
process.exit(code);

async function judgeEach(gates: readonly Gate[]): Promise<void> {
  for (const gate of gates) await judge(gate);
}

/** Runs a gate and prints its line. A gate that fails ends the process with what it printed. */
async function judge(gate: Gate): Promise<void> {
  if (gate.needsEntries && missingEntries.length > 0) {
    report('·', gate, `waits for ${missingEntries.join(', ')}`);
    return;
  }
  const command = packageJson.scripts[gate.script];
  const gateStartedAt = performance.now();
  const { code, output } = await run(command);
  report(code === 0 ? '✔' : '✖', gate, seconds(gateStartedAt));
  if (code !== 0) {
    console.log(`\n${output.trim()}\n\nThis was: ${command}`);
    process.exit(1);
  }
}

function report(mark: string, { script, holds }: Gate, outcome: string): void {
  console.log(`${mark} ${script.padEnd(13)} ${holds.padEnd(40)} ${outcome}`);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** Runs a command of the project and returns its output. */
async function run(command: string): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(command, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The compiler and the linter are Go programs: a quarter of their CPU time is garbage collection.
    env: { GOGC: '400', ...process.env },
  });
  const output: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.on('error', reject);
  child.on('close', (code) => resolve(code ?? 1));
  return { code: await promise, output: output.join('') };
}
