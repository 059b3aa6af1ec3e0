import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompiledNet, LabelRule } from '../../src/net/index.ts';
import { compareLabels, reductionCases } from './labels.ts';

const withRules =
  (change: (rules: readonly LabelRule[]) => readonly LabelRule[]) =>
  (net: CompiledNet): CompiledNet => {
    const transitions = net.transitions.map((t) => ({
      ...t,
      spec: { ...t.spec, labels: change(t.spec.labels ?? []) },
      alternatives: new Map(
        [...t.alternatives].map(([name, alternative]) => [
          name,
          {
            ...alternative,
            outputs: alternative.outputs.map((one) => ({
              ...one,
              labels: change(one.labels ?? []),
            })),
          },
        ]),
      ),
    }));
    return { ...net, transitions, byName: new Map(transitions.map((t) => [t.name, t])) };
  };

for (const [name, reductions] of Object.entries(reductionCases))
  test(`on random nets with labels the prover with ${name} and an independent search never disagree`, async () => {
    const nets = { nets: 25, firstSeed: 1, mostNaiveStates: 150 };
    const tally = await compareLabels({ ...nets, reductions });
    assert.deepEqual(tally.disagreements, []);
    assert.ok(tally.unknown <= 3, `${tally.unknown} unknown`);
    assert.ok(tally.proved >= 5, `${tally.proved} proved`);
    assert.ok(tally.refuted >= 5, `${tally.refuted} refuted`);
  });

test('labels of firings in flight, and labels that only rules tell apart, are followed', async () => {
  for (const firstSeed of [184, 223]) {
    const { disagreements } = await compareLabels({ nets: 1, firstSeed, mostNaiveStates: 60 });
    assert.deepEqual(disagreements, []);
  }
});

/** By defect: a prover with it, and the first net on which it is wrong. */
const mutants: Readonly<
  Record<string, readonly [(net: CompiledNet) => CompiledNet, seed: number]>
> = {
  'ignores the lists of rules': [
    withRules((rules) =>
      rules.map(({ only: _, ...rule }) => ({
        ...rule,
        ...(_ !== undefined && { only: ['a', 'b', 'c'] }),
      })),
    ),
    67,
  ],
  'ignores that a token has the label of an input': [
    withRules((rules) => rules.map(({ as: _as, ...rule }) => rule)),
    184,
  ],
  'allows one label more than a list': [
    withRules((rules) =>
      rules.map((rule) => ({ ...rule, ...(rule.only && { only: [...rule.only, 'a'] }) })),
    ),
    75,
  ],
};

for (const [name, [mutate, firstSeed]] of Object.entries(mutants)) {
  test(`a prover that ${name} is detected`, async () => {
    const nets = { nets: 1, firstSeed, mostNaiveStates: 60 };
    const { disagreements } = await compareLabels({ ...nets, mutate });
    assert.equal(disagreements.length, 1);
  });
}
