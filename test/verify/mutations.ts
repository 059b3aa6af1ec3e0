/** Simulates defects of the prover by changing its net: each mutation ignores one kind of arc. */
import type {
  CompiledInput,
  CompiledNet,
  CompiledTransition,
} from '../../src/net/build/compile.ts';

const each =
  (change: (t: CompiledTransition) => CompiledTransition) =>
  (net: CompiledNet): CompiledNet => {
    const transitions = net.transitions.map(change);
    return { ...net, transitions, byName: new Map(transitions.map((t) => [t.name, t])) };
  };

const eachInput = (
  change: (input: CompiledInput) => CompiledInput,
): ((net: CompiledNet) => CompiledNet) => each((t) => ({ ...t, takes: t.takes.map(change) }));

export const mutations: Readonly<Record<string, (net: CompiledNet) => CompiledNet>> = {
  'ignores inhibitors': each((t) => ({ ...t, unless: [] })),
  'ignores resets': each((t) => ({ ...t, reset: [] })),
  'takes one token where all are taken': eachInput((input) =>
    input.mode === 'all' ? { ...input, mode: 'one', count: 1 } : input,
  ),
  'takes one token where many are taken': eachInput((input) =>
    input.mode === 'many' ? { ...input, mode: 'one', count: 1 } : input,
  ),
  'ignores keys': each((t) => ({
    ...t,
    keyed: false,
    takes: t.takes.map((input) => ({ ...input, keyOf: undefined })),
  })),
  'ignores priorities': each((t) => ({ ...t, spec: { ...t.spec, priority: 0 } })),
  'lets an effect end with its first outcome only': each((t) => ({
    ...t,
    alternatives:
      t.spec.kind === 'effect' ? new Map([...t.alternatives].slice(0, 1)) : t.alternatives,
  })),
  'gives one token where any number is declared': each((t) => ({
    ...t,
    alternatives: new Map(
      [...t.alternatives].map(([name, alternative]) => [
        name,
        {
          ...alternative,
          outputs: alternative.outputs.map((output) => ({
            ...output,
            output: { arc: 'one' as const, place: output.place },
          })),
        },
      ]),
    ),
  })),
  'ignores the bound on firings in flight': each((t) => {
    const { concurrency: _, ...spec } = t.spec;
    return { ...t, spec };
  }),
  'knows no time': each((t) => {
    const { after: _, ...spec } = t.spec;
    return { ...t, spec };
  }),
};
