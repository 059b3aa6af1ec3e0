import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkImports, checkModel, checkProver } from './check-instance.ts';
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
