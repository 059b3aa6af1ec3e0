import type { Transition } from './transition.ts';

/** The transition without the named alternatives, which this agent never produces. Nets, diagrams and proofs omit them. */
export function omitAlternatives<T extends Transition>(t: T, ...names: readonly string[]): T {
  if (t.give.give === 'allOf') return t;
  const alternatives = Object.fromEntries(
    Object.entries(t.give.alternatives).filter(([name]) => !names.includes(name)),
  );
  return { ...t, give: { give: 'oneOf', alternatives } };
}

/** The transition without the named outputs, in all of its alternatives, which this agent never produces. */
export function omitOutputs<T extends Transition>(t: T, ...names: readonly string[]): T {
  const omit = <O>(outputs: Readonly<Record<string, O>>): Readonly<Record<string, O>> =>
    Object.fromEntries(Object.entries(outputs).filter(([name]) => !names.includes(name)));
  if (t.give.give === 'allOf')
    return { ...t, give: { give: 'allOf', outputs: omit(t.give.outputs) } };
  const alternatives = Object.fromEntries(
    Object.entries(t.give.alternatives).map(([name, alternative]) => [
      name,
      'give' in alternative
        ? { give: 'allOf' as const, outputs: omit(alternative.outputs) }
        : alternative,
    ]),
  );
  return { ...t, give: { give: 'oneOf', alternatives } };
}
