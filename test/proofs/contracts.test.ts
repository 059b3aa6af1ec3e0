/** What follows from the contracts of agents: the proved properties of every kind, and nothing that a mutant breaks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import type { Bounds, Property } from '../../src/verify/index.ts';
import { ContractCheck } from '../../src/verify/contracts/contract-check.ts';
import type { ComponentTree } from '../../src/verify/contracts/contract.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { flowProofs } from './flows.ts';

/** Returns the names of the properties that do not follow. */
function listOpen(
  net: Net,
  components: ComponentTree,
  bounds: Bounds,
  properties: readonly Property[],
): readonly string[] {
  const limits = { states: 50_000, endsAt: Number.POSITIVE_INFINITY };
  const check = new ContractCheck(expand(compile(net), bounds), components, limits);
  Array.from(check.prove());
  return properties.filter((one) => !check.decide(one).holds).map(({ name }) => name);
}

/** Properties that only a search of the whole net proves: of agents that transfer the turn, and of waiting beside work. */
const needsWholeNet = (kind: string, property: string): boolean =>
  kind.includes('hand the turn to each other') ||
  property === 'only one of turn.waiting, running(b/custom.step) is marked';

for (const { name, net, claims, mutants, components } of flowProofs) {
  if (components === undefined) continue;
  describe(name, () => {
    for (const { properties, bounds } of claims) {
      const open = properties.map((one) => one.name).filter((one) => needsWholeNet(name, one));
      it(`follows from its contracts: ${properties.length - open.length} properties`, () => {
        assert.deepEqual(listOpen(net, components, bounds, properties), open);
      });
    }
    for (const mutant of mutants) {
      it(`keeps the property open when it ${mutant.that}`, () => {
        const { property, bounds } = mutant;
        assert.deepEqual(listOpen(mutant.net, components, bounds, [property]), [property.name]);
      });
    }
  });
}
