/**
 * Runs the tests that a change can reach: every test file that differs from `main` (or from the
 * commit named as the first argument) or imports, directly or not, a file that differs.
 */
import { execFileSync } from 'node:child_process';
import { readTree } from '../test/architecture/read-tree.ts';
import { readModule } from '../test/architecture/module-facts.ts';
import { runTests } from './run-tests.ts';
import { listTestFiles } from './test-files.ts';

const base = process.argv[2] ?? 'main';
const git = (...args: readonly string[]): readonly string[] =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);

const changed = new Set([
  ...git('diff', '--name-only', '--relative', base),
  ...git('ls-files', '--others', '--exclude-standard'),
]);

/** Every module, and the modules that import it. */
const importers = new Map<string, string[]>();
const modules = readTree('.').filter(({ path }) =>
  /^(?:src|test|examples|scripts|bench)\/.*\.ts$/.test(path),
);
for (const module of modules.map(readModule)) {
  for (const { target } of module.imports) {
    if (target === undefined) continue;
    importers.set(target, [...(importers.get(target) ?? []), module.path]);
  }
}

const reached = new Set<string>();
const reach = (path: string): void => {
  if (reached.has(path)) return;
  reached.add(path);
  for (const importer of importers.get(path) ?? []) reach(importer);
};
for (const path of changed) reach(path);

const tests = listTestFiles().filter((path) => reached.has(path));
if (tests.length === 0) {
  console.log(`No test imports what differs from ${base}.`);
} else {
  console.log(
    `${tests.length} test files reach the ${changed.size} files that differ from ${base}\n`,
  );
  process.exitCode = await runTests(tests);
}
