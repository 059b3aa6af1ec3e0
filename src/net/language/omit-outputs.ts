import { listAlternatives } from './arcs.ts';
import type { Transition } from './transition.ts';

/** The transition without the named alternatives, which this agent never produces. Nets, diagrams and proofs omit them. */
export function omitAlternatives<T extends Transition>(t: T, ...names: readonly string[]): T {
  if (t.give.give === 'allOf') return t;
  const alternatives = Object.fromEntries(
    Object.entries(t.give.alternatives).filter(([name]) => !names.includes(name)),
  );
  return withGive(t, { give: 'oneOf', alternatives });
}

/** The transition without the named outputs, in all of its alternatives, which this agent never produces. */
export function omitOutputs<T extends Transition>(t: T, ...names: readonly string[]): T {
  const omit = <O>(outputs: Readonly<Record<string, O>>): Readonly<Record<string, O>> =>
    Object.fromEntries(Object.entries(outputs).filter(([name]) => !names.includes(name)));
  if (t.give.give === 'allOf') return withGive(t, { give: 'allOf', outputs: omit(t.give.outputs) });
  const alternatives = Object.fromEntries(
    Object.entries(t.give.alternatives).map(([name, alternative]) => [
      name,
      'give' in alternative
        ? { give: 'allOf' as const, outputs: omit(alternative.outputs) }
        : alternative,
    ]),
  );
  return withGive(t, { give: 'oneOf', alternatives });
}

/** The transition with fewer outputs, and without the label rules of the others. */
function withGive<T extends Transition>(t: T, give: Transition['give']): T {
  if (t.labels === undefined) return { ...t, give };
  const outputs = listAlternatives(give).flatMap((one) =>
    one.outputs.map(({ key }) => ({ alternative: one.name, key })),
  );
  const labels = t.labels.filter(({ alternative, output }) =>
    outputs.some(
      (one) => one.key === output && (alternative ?? one.alternative) === one.alternative,
    ),
  );
  return { ...t, give, labels };
}
