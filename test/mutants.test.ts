import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isCaught, MutantRunner } from './mutants/mutant-runner.ts';
import { mutants } from './mutants/mutants.ts';
import { proverMutants, quickProverTests } from './mutants/prover-mutants.ts';
import { pickSample } from './sample-seed.ts';

let runner: MutantRunner;

before(async () => {
  runner = await MutantRunner.open(join(import.meta.dirname, '..'));
});

after(async () => runner[Symbol.asyncDispose]());

/** Mutants of one in three test files are planted, of others in each run. The long tests plant every mutant. */
const STRIDE = 3;

test('a mutant of a test file is detected by it, and the file passes without the mutant', async (t) => {
  const byFile = new Map(
    [
      ...mutants.filter(({ isSlow }) => isSlow !== true),
      ...proverMutants.filter(({ tests }) => quickProverTests.includes(tests[0] ?? '')),
    ].map((mutant) => [mutant.tests[0] ?? '', mutant]),
  );
  const offset = pickSample(STRIDE, 'mutants');
  for (const [index, file] of [...byFile.keys()].entries())
    if ((index + offset) % STRIDE !== 0) byFile.delete(file);
  const { passed, failed, output } = await runner.run([...byFile.keys()]);
  assert.ok(passed > 0 && failed === 0, output);
  for (const mutant of byFile.values()) {
    await t.test(mutant.name, async () => {
      const outcome = await runner.runMutant(mutant, mutant.tests.slice(0, 1));
      assert.ok(isCaught(outcome), outcome.output);
    });
  }
});

test('every mutant replaces a text that its file holds once', async () => {
  for (const { name, edits } of [...mutants, ...proverMutants])
    for (const { file, find } of edits) {
      const text = await readFile(join(import.meta.dirname, '..', file), 'utf8');
      assert.equal(text.split(find).length - 1, 1, `${name}: ${file}`);
    }
});

test('a mutant whose text does not occur is an error', async () => {
  const gone = { file: 'src/net/engine/agenda.ts', find: 'no such text', replace: '' };
  const mutant = { name: 'gone', edits: [gone], tests: [] };
  await assert.rejects(runner.runMutant(mutant, []), /holds its text 0 times/);
});

test('a mutant that does not load does not count as detected', async () => {
  const [mutant] = mutants;
  assert.ok(mutant);
  const edits = mutant.edits.map((edit) => ({ ...edit, replace: 'this is no code' }));
  const outcome = await runner.runMutant({ ...mutant, edits }, [
    'src/net/engine/heap.test.ts',
    'src/net/engine/recovery.test.ts',
  ]);
  assert.equal(isCaught(outcome), false);
});
