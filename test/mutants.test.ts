import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isCaught, MutantRunner } from './mutants/mutant-runner.ts';
import { mutants } from './mutants/mutants.ts';

const root = join(import.meta.dirname, '..');

test('every mutant is found by its fastest tests, which pass without it', async (t) => {
  await using laboratory = await MutantRunner.open(root);
  const quickest = mutants.flatMap(({ tests }) => tests.slice(0, 1));
  const { passed, failed, output } = await laboratory.run([...new Set(quickest)]);
  assert.ok(passed > 0 && failed === 0, output);
  for (const mutant of mutants) {
    await t.test(mutant.name, async () => {
      const outcome = await laboratory.runMutant(mutant, mutant.tests.slice(0, 1));
      assert.ok(isCaught(outcome), outcome.output);
    });
  }
});

test('a mutant whose text does not occur is an error, not a mutant that was found', async () => {
  await using laboratory = await MutantRunner.open(root);
  const gone = { file: 'src/net/engine/agenda.ts', find: 'no such text', replace: '' };
  const mutant = { name: 'gone', edits: [gone], tests: [] };
  await assert.rejects(laboratory.runMutant(mutant, []), /holds its text 0 times/);
});

test('a mutant that does not load is not found by the tests', async () => {
  await using laboratory = await MutantRunner.open(root);
  const [mutant] = mutants;
  assert.ok(mutant);
  const edits = mutant.edits.map((edit) => ({ ...edit, replace: 'this is no code' }));
  const outcome = await laboratory.runMutant({ ...mutant, edits }, [
    'src/net/engine/heap.test.ts',
    'src/net/engine/recovery.test.ts',
  ]);
  assert.equal(isCaught(outcome), false);
});
