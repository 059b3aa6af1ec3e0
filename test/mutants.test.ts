import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isCaught, MutantRunner } from './mutants/mutant-runner.ts';
import { mutants } from './mutants/mutants.ts';

const root = join(import.meta.dirname, '..');

test('every mutant is detected by its fastest tests, which pass without it', async (t) => {
  await using runner = await MutantRunner.open(root);
  const fastestTests = mutants.flatMap(({ tests }) => tests.slice(0, 1));
  const { passed, failed, output } = await runner.run([...new Set(fastestTests)]);
  assert.ok(passed > 0 && failed === 0, output);
  for (const mutant of mutants) {
    await t.test(mutant.name, async () => {
      const outcome = await runner.runMutant(mutant, mutant.tests.slice(0, 1));
      assert.ok(isCaught(outcome), outcome.output);
    });
  }
});

test('a mutant whose text does not occur is an error', async () => {
  await using runner = await MutantRunner.open(root);
  const gone = { file: 'src/net/engine/agenda.ts', find: 'no such text', replace: '' };
  const mutant = { name: 'gone', edits: [gone], tests: [] };
  await assert.rejects(runner.runMutant(mutant, []), /holds its text 0 times/);
});

test('a mutant that does not load does not count as detected', async () => {
  await using runner = await MutantRunner.open(root);
  const [mutant] = mutants;
  assert.ok(mutant);
  const edits = mutant.edits.map((edit) => ({ ...edit, replace: 'this is no code' }));
  const outcome = await runner.runMutant({ ...mutant, edits }, [
    'src/net/engine/heap.test.ts',
    'src/net/engine/recovery.test.ts',
  ]);
  assert.equal(isCaught(outcome), false);
});
