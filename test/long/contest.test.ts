import { test } from 'node:test';
import {
  checkImports,
  checkMarkings,
  checkModel,
  checkProver,
} from '../verify/contest/check-instance.ts';
import { INSTANCES } from '../verify/contest/published.ts';

/** The independent exploration of an instance above this size does not fit into memory. */
const MOST_MARKINGS = 100_000;

for (const instance of INSTANCES.filter(({ quick }) => !quick)) {
  test(`${instance.name}: prover and contest agree`, async (t) => {
    const startedAt = performance.now();
    if (instance.published.markings > MOST_MARKINGS) checkMarkings(instance);
    else {
      checkModel(instance);
      checkImports(instance);
      await checkProver(instance);
    }
    t.diagnostic(`${Math.round((performance.now() - startedAt) / 1000)} s`);
  });
}
