import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkImports, checkModel, checkProver } from './check-instance.ts';
import { toRow } from './contest-page.ts';
import { INSTANCES } from './published.ts';

for (const instance of INSTANCES.filter(({ quick }) => quick)) {
  test(`${instance.name}: prover and contest agree`, async () => {
    checkModel(instance);
    checkImports(instance);
    await checkProver(instance);
  });
}

test('a net that differs from the published one does not pass', () => {
  const [first] = INSTANCES;
  assert.ok(first !== undefined);
  const { net, published } = first;
  const withoutOne = { ...net(), transitions: net().transitions.slice(1) };
  assert.throws(() => checkModel({ ...first, net: () => withoutOne }), assert.AssertionError);
  const changed = { ...published, hasDeadlock: !published.hasDeadlock };
  assert.throws(() => checkModel({ ...first, published: changed }), assert.AssertionError);
});

test('docs/conformance/contest.md lists every instance with its published facts', () => {
  const path = join(import.meta.dirname, '../../../docs/conformance/contest.md');
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '));
  assert.deepEqual(
    rows.filter((row) => row.includes('-PT-') && row.startsWith('|')),
    INSTANCES.map(toRow),
  );
});
