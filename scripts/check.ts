/** Runs every gate, one line each, and stops at the first that fails. The tests come last: their summary closes the output. */
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import packageJson from '../package.json' with { type: 'json' };

interface Gate {
  readonly name: string;
  readonly holds: string;
  readonly command: string;
  /** Files without which the gate cannot judge yet. */
  readonly needs?: readonly string[];
}

const entries = [
  ...Object.values(packageJson.exports).flatMap((one) =>
    typeof one === 'string' ? [] : one.default,
  ),
  packageJson.bin.petrichor,
].map((file) => file.replace('./', '').replace('dist/', 'src/').replace('.js', '.ts'));

const gates: readonly Gate[] = [
  { name: 'format', holds: 'one layout', command: 'oxfmt --check' },
  { name: 'lint', holds: 'promises, exhaustiveness, no any, no !', command: 'oxlint' },
  { name: 'types', holds: 'strict TypeScript', command: 'tsc' },
  { name: 'build', holds: 'JavaScript and declarations', command: 'npm run --silent build' },
  { name: 'knip', holds: 'nothing unused', command: 'knip', needs: entries },
  {
    name: 'publint',
    holds: 'the package as published',
    command: 'publint --strict',
    needs: entries,
  },
  {
    name: 'attw',
    holds: 'types for every importer',
    command: 'attw --pack . --profile esm-only',
    needs: entries,
  },
];

const tests = globSync('{src,test}/**/*.test.ts', { exclude: ['test/long/**'] }).toSorted();

const startedAt = performance.now();
for (const gate of gates) {
  const missing = (gate.needs ?? []).filter((file) => !existsSync(file));
  if (missing.length > 0) {
    report('·', gate, `waits for ${missing.join(', ')}`);
    continue;
  }
  const gateStartedAt = performance.now();
  const { code, output } = await run(gate.command);
  report(code === 0 ? '✔' : '✖', gate, seconds(gateStartedAt));
  if (code === 0) continue;
  console.log(`\n${output.trim()}\n\n"${gate.command}" failed.`);
  process.exit(1);
}
console.log(
  `${gates.length} gates in ${seconds(startedAt)}, now the tests (${tests.length} files)\n`,
);

const tested = await run(
  `node --test --test-reporter=spec --test-timeout=120000 ${tests.join(' ')}`,
  'inherit',
);
process.exit(tested.code);

function report(mark: string, { name, holds }: Gate, outcome: string): void {
  console.log(`${mark} ${name.padEnd(8)} ${holds.padEnd(40)} ${outcome}`);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** Runs a command of the project. Its output is kept for the moment it fails, or shown as it comes. */
async function run(
  command: string,
  stdio: 'pipe' | 'inherit' = 'pipe',
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
